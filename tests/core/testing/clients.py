"""Small clients for the wires of the built-in providers, written from the vendors' documents and not from our own
wire formats. Those of the contributed providers stand in files of their own.
"""

import json

TOOL = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}


def sse(text: str) -> list[dict]:
    """The JSON of all `data:` lines of a stream, `[DONE]` left out."""
    lines = [line.removeprefix("data: ") for line in text.split("\n") if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


class Client:
    """What most vendors do alike; each says the rest."""

    def events(self, response):
        """The JSON of each event of a stream."""
        return sse(response.text)

    def error(self, response):
        """The words of an error, and the vendor's kind of it."""
        error = response.json()["error"]
        return error["message"], error.get("type")


class OpenAIClient(Client):
    name = "openai"

    def address(self, llm, stream=False):
        return f"{llm.openai_url}/chat/completions"

    def request(self, text="hello", *, system="You help.", history=(), tools=True, stream=False, model="gpt-4.1"):
        body = {"model": model, "messages": [{"role": "system", "content": system}, {"role": "user", "content": text}]}
        body["messages"] += history
        if tools:
            function = {"name": "search", "description": "Finds pages", "parameters": TOOL}
            body["tools"] = [{"type": "function", "function": function}]
        if stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        return body

    def headers(self, key="k"):
        return {"authorization": f"Bearer {key}"}

    def turn(self, read, results):
        """History that a reply and its tool results become."""
        calls = [
            {"id": one["id"], "type": "function", "function": {"name": one["name"], "arguments": one["raw"]}}
            for one in read["calls"]
        ]
        said = {"role": "assistant", "content": read["text"] or None}
        if calls:
            said["tool_calls"] = calls
        pairs = zip(read["calls"], results, strict=True)
        return [said, *({"role": "tool", "tool_call_id": one["id"], "content": text} for one, text in pairs)]

    def read(self, response, stream):
        if not stream:
            body = response.json()
            message = body["choices"][0]["message"]
            calls = [
                {"id": one["id"], "name": one["function"]["name"], "raw": one["function"]["arguments"]}
                for one in message.get("tool_calls", [])
            ]
            usage = body.get("usage") or {}
            return self._read(message["content"] or "", calls, body["choices"][0]["finish_reason"], usage, message)
        assert response.text.endswith("data: [DONE]\n\n")
        text, reasoning, calls, finish, usage = "", "", {}, None, {}
        for chunk in sse(response.text):
            usage = chunk.get("usage") or usage
            for choice in chunk["choices"]:
                finish = choice["finish_reason"] or finish
                text += choice["delta"].get("content") or ""
                reasoning += choice["delta"].get("reasoning_content") or ""
                for one in choice["delta"].get("tool_calls", []):
                    call = calls.setdefault(one["index"], {"id": one.get("id"), "name": "", "raw": ""})
                    call["name"] = one["function"].get("name", call["name"])
                    piece = one["function"]["arguments"]
                    call["raw"] = None if piece is None else call["raw"] + piece
        return self._read(text, list(calls.values()), finish, usage, {"reasoning_content": reasoning})

    def _read(self, text, calls, finish, usage, message):
        counts = (usage.get("prompt_tokens"), usage.get("completion_tokens"))
        reasoning = message.get("reasoning_content") or ""
        return {"text": text, "calls": calls, "finish": finish, "usage": counts, "reasoning": reasoning}


class AnthropicClient(Client):
    name = "anthropic"

    def address(self, llm, stream=False):
        return f"{llm.anthropic_url}/messages"

    def request(self, text="hello", *, system="You help.", history=(), tools=True, stream=False, model="claude-x"):
        messages = [{"role": "user", "content": text}, *history]
        body = {"model": model, "max_tokens": 1024, "system": system, "messages": messages}
        if tools:
            body["tools"] = [{"name": "search", "description": "Finds pages", "input_schema": TOOL}]
        return body | ({"stream": True} if stream else {})

    def headers(self, key="k"):
        return {"x-api-key": key, "anthropic-version": "2023-06-01"}

    def turn(self, read, results):
        blocks = [{"type": "text", "text": read["text"]}] if read["text"] else []
        blocks += [
            {"type": "tool_use", "id": one["id"], "name": one["name"], "input": json.loads(one["raw"])}
            for one in read["calls"]
        ]
        history = [{"role": "assistant", "content": blocks}]
        if results:
            pairs = zip(read["calls"], results, strict=True)
            answers = [{"type": "tool_result", "tool_use_id": one["id"], "content": text} for one, text in pairs]
            history.append({"role": "user", "content": answers})
        return history

    def read(self, response, stream):
        if not stream:
            body = response.json()
            return self._read(body["content"], body["stop_reason"], body.get("usage") or {})
        events = self.events(response)
        assert [events[0]["type"], events[-1]["type"]] == ["message_start", "message_stop"]
        blocks, finish, usage = {}, None, events[0]["message"].get("usage") or {}
        for event in events:
            if event["type"] == "content_block_start":
                blocks[event["index"]] = {**event["content_block"], "json": ""}
            elif event["type"] == "content_block_delta":
                block, delta = blocks[event["index"]], event["delta"]
                block["text"] = block.get("text", "") + delta.get("text", "")
                block["thinking"] = block.get("thinking", "") + delta.get("thinking", "")
                block["json"] += delta.get("partial_json", "")
            elif event["type"] == "message_delta":
                finish, usage = event["delta"]["stop_reason"], {**usage, **event.get("usage", {})}
        for block in blocks.values():
            if block["type"] == "tool_use":
                block["raw"] = block["json"] or json.dumps(block.get("input"))
        return self._read(list(blocks.values()), finish, usage)

    def _read(self, blocks, finish, usage):
        return {
            "text": "".join(block["text"] for block in blocks if block["type"] == "text"),
            "reasoning": "".join(block["thinking"] for block in blocks if block["type"] == "thinking"),
            "calls": [
                {"id": one["id"], "name": one["name"], "raw": one.get("raw") or json.dumps(one["input"])}
                for one in blocks
                if one["type"] == "tool_use"
            ],
            "finish": finish,
            "usage": (usage.get("input_tokens"), usage.get("output_tokens")),
        }


class GeminiClient(Client):
    name = "gemini"

    def error(self, response):
        error = response.json()["error"]
        return error["message"], error["status"]

    def address(self, llm, stream=False, model="gemini-2.5-flash"):
        method = "streamGenerateContent?alt=sse" if stream else "generateContent"
        return f"{llm.gemini_url}/models/{model}:{method}"

    def request(self, text="hello", *, system="You help.", history=(), tools=True, stream=False, model=""):
        body = {"systemInstruction": {"parts": [{"text": system}]}}
        body["contents"] = [{"role": "user", "parts": [{"text": text}]}, *history]
        if tools:
            declared = {"name": "search", "description": "Finds pages", "parameters": TOOL}
            body["tools"] = [{"functionDeclarations": [declared]}]
        return body

    def headers(self, key="k"):
        return {"x-goog-api-key": key}

    def turn(self, read, results):
        parts = [{"text": read["text"]}] if read["text"] else []
        parts += [
            {"functionCall": {"name": one["name"], "args": json.loads(one["raw"])}, **one["extra"]}
            for one in read["calls"]
        ]
        history = [{"role": "model", "parts": parts}]
        if results:
            pairs = zip(read["calls"], results, strict=True)
            answers = [{"functionResponse": {"name": one["name"], "response": {"result": text}}} for one, text in pairs]
            history.append({"role": "user", "parts": answers})
        return history

    def read(self, response, stream):
        chunks = sse(response.text) if stream else [response.json()]
        if stream:
            assert response.text.endswith("\r\n\r\n")
        parts, finish, usage = [], None, {}
        for chunk in chunks:
            candidate = chunk["candidates"][0]
            parts += candidate["content"].get("parts", [])
            finish = candidate.get("finishReason", finish)
            usage = chunk.get("usageMetadata", usage)
        return {
            "text": "".join(part.get("text", "") for part in parts if not part.get("thought")),
            "reasoning": "".join(part.get("text", "") for part in parts if part.get("thought")),
            "calls": [
                {
                    "id": part["functionCall"].get("id"),
                    "name": part["functionCall"]["name"],
                    "raw": json.dumps(part["functionCall"]["args"]) if "args" in part["functionCall"] else None,
                    "extra": {key: value for key, value in part.items() if key == "thoughtSignature"},
                }
                for part in parts
                if "functionCall" in part
            ],
            "finish": finish,
            "usage": (usage.get("promptTokenCount"), usage.get("candidatesTokenCount")),
        }
