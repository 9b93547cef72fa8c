"""The team file that `officellm team init` writes: one agent on a local server, which needs no key."""

MINIMAL = """\
# A team of one agent on a local OpenAI-compatible server. Check it: officellm team check. Run it: officellm team run.
providers:
  lm-studio:
    format: openai_compat
    base_url: http://localhost:1234/v1/chat/completions
    api_key_env: LM_STUDIO_API_KEY          # local servers take any value, or none

agents:
  - name: local-agent
    provider: lm-studio
    model: local-model
    role: generalist
    capabilities: [code, write, summarize, plan]
    system_prompt: |
      You work through the tasks that you are given, one after the other, with the tools that you have.

board: board.db

orchestrator:
  poll_interval_seconds: 5
  max_iterations: 0                         # 0: until it is stopped
  max_concurrent_dispatches: 2
  notification_kinds: [task_assigned, handoff]
  dispatch_limits: {max_turns: 8, max_tool_calls: 24, max_seconds: 120, max_tokens_per_call: 4096, provider_retries: 3}
"""
