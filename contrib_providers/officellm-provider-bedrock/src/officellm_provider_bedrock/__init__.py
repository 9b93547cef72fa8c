"""Amazon Bedrock for officellm. The drivers are `converse` and `invoke`; nothing here imports botocore."""
