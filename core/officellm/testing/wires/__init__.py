"""The wires that the fake LLM server speaks: one module a wire, and one with what its vendor refuses."""
