"""For each built-in format a request that uses what the format has, as its vendor takes it."""

from __future__ import annotations

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
ARGUMENTS = {"city": "Paris"}
PIXEL = "iVBORw0KGgo="

CHAT = {
    "model": "some-model",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Here?"},
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}},
            ],
        },
        {
            "role": "assistant",
            "content": None,
            "reasoning_content": "hm",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Paris"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "sunny"},
    ],
    "tools": [{"type": "function", "function": {"name": "weather", "description": "Tells.", "parameters": SCHEMA}}],
    "tool_choice": "required",
    "parallel_tool_calls": False,
    "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA}},
    "max_completion_tokens": 9,
    "seed": 3,
    "stream": True,
    "stream_options": {"include_usage": True},
}
ANTHROPIC = {
    "model": "claude-9",
    "max_tokens": 9,
    "system": "Be brief.",
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Here?"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "tool_use", "id": "t1", "name": "weather", "input": ARGUMENTS},
            ],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "no such city", "is_error": True}],
        },
    ],
    "tools": [
        {"name": "weather", "description": "Tells.", "input_schema": SCHEMA},
        {"type": "web_search_20250305", "name": "web_search"},
    ],
    "tool_choice": {"type": "any", "disable_parallel_tool_use": True},
    "stop_sequences": ["END"],
}
GEMINI = {
    "system_instruction": {"parts": {"text": "Be brief."}},
    "contents": [
        {"role": "user", "parts": [{"text": "Here?"}, {"inline_data": {"mime_type": "image/png", "data": PIXEL}}]},
        {
            "role": "model",
            "parts": [{"functionCall": {"id": "f1", "name": "weather", "args": ARGUMENTS}, "thoughtSignature": "s"}],
        },
        {
            "role": "user",
            "parts": [{"functionResponse": {"id": "f1", "name": "weather", "response": {"output": "sunny"}}}],
        },
    ],
    "tools": [
        {"functionDeclarations": [{"name": "weather", "description": "Tells.", "parameters": SCHEMA}]},
        {"googleSearch": {}},
    ],
    "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["weather"]}},
    "generationConfig": {"maxOutputTokens": 9, "responseMimeType": "application/json", "responseSchema": SCHEMA},
    "safetySettings": [{"category": "X", "threshold": "NONE"}],
}
REQUESTS = {
    "openai_chat": ("/v1/chat/completions", CHAT),
    "anthropic": ("/v1/messages", ANTHROPIC),
    "gemini": ("/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse", GEMINI),
}
