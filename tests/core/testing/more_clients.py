"""Small clients for the wires of Cohere, Mistral and Ollama, as those in `clients.py`."""

import hashlib
import json
import re

from .clients import TOOL, Client, OpenAIClient, sse

TOOLS = [{"type": "function", "function": {"name": "search", "description": "Finds pages", "parameters": TOOL}}]


def joined(pieces):
    """The pieces of some arguments as one text; None where they were null."""
    return None if None in pieces else "".join(pieces)


class ChatClient(Client):
    """What the vendors whose requests look like chat completions do alike."""

    def request(self, text="hello", *, system="You help.", history=(), tools=True, stream=False, model="m"):
        body = {"model": model, "messages": [{"role": "system", "content": system}, {"role": "user", "content": text}]}
        body["messages"] += history
        if tools:
            body["tools"] = TOOLS
        return {**body, "stream": True} if stream else body

    def headers(self, key="k"):
        return {"authorization": f"Bearer {key}"}

    def usage(self, counts, *names):
        return tuple(counts.get(name) for name in names)


class CohereClient(ChatClient):
    name = "cohere"

    def address(self, llm, stream=False):
        return f"{llm.cohere_url}/v2/chat"

    def error(self, response):
        body = response.json()
        return body["message"], body.get("error_type")

    def turn(self, read, results):
        said = {"role": "assistant", "content": read["text"]}
        if read["calls"]:
            said = {"role": "assistant", "tool_plan": read["text"], "tool_calls": []}
        for one in read["calls"]:
            function = {"name": one["name"], "arguments": one["raw"]}
            said["tool_calls"].append({"id": one["id"], "type": "function", "function": function})
        pairs = zip(read["calls"], results, strict=True)
        documents = [[{"type": "document", "document": {"data": text}}] for text in results]
        texts = zip(pairs, documents, strict=True)
        return [said, *({"role": "tool", "tool_call_id": one["id"], "content": parts} for (one, _), parts in texts)]

    def read(self, response, stream):
        body = self.folded(response.text) if stream else response.json()
        message = body["message"]
        parts = message.get("content", [])
        said = {kind: "".join(part[kind] for part in parts if part["type"] == kind) for kind in ("text", "thinking")}
        calls = [
            {"id": one["id"], "name": one["function"]["name"], "raw": one["function"]["arguments"]}
            for one in message.get("tool_calls", [])
        ]
        return {
            "text": message.get("tool_plan", "") + said["text"],
            "reasoning": said["thinking"],
            "calls": calls,
            "finish": body["finish_reason"],
            "usage": self.usage(body.get("usage", {}).get("tokens", {}), "input_tokens", "output_tokens"),
            "citations": message.get("citations", []),
        }

    def folded(self, text):
        """The whole body of a stream: every `-start` opens something that its deltas add to."""
        assert text.endswith("data: [DONE]\n\n")
        events = sse(text)
        named = re.findall(r"^event: (.+)$", text, re.MULTILINE)
        assert named == [one["type"] for one in events]
        assert [named[0], named[-1]] == ["message-start", "message-end"]
        content, calls, plan, citations = [], [], [], []
        for one in events[1:-1]:
            message = one.get("delta", {}).get("message", {})
            match one["type"]:
                case "content-start":
                    content.append(dict(message["content"]))
                case "content-delta":
                    ((kind, piece),) = message["content"].items()
                    content[one["index"]][kind] += piece
                case "tool-plan-delta":
                    plan.append(message["tool_plan"])
                case "tool-call-start":
                    call = message["tool_calls"]
                    calls.append((call, [call["function"]["arguments"]]))
                case "tool-call-delta":
                    calls[-1][1].append(message["tool_calls"]["function"]["arguments"])
                case "citation-start":
                    citations.append(message["citations"])
                case other:
                    assert other in ("content-end", "tool-call-end", "citation-end")
        for call, pieces in calls:
            call["function"]["arguments"] = joined(pieces) if pieces != [""] else "{}"
        message = {"content": content, "tool_plan": "".join(plan), "tool_calls": [call for call, _ in calls]}
        return {"message": {**message, "citations": citations}, **events[-1]["delta"]}


class MistralClient(OpenAIClient):
    name = "mistral"

    def address(self, llm, stream=False):
        return f"{llm.mistral_url}/chat/completions"

    def error(self, response):
        body = response.json()
        return body.get("message") or body["detail"], body.get("type")

    def request(self, text="hello", *, stream=False, **options):
        body = super().request(text, stream=stream, **options)
        body.pop("stream_options", None)
        return body

    def turn(self, read, results):
        """With ids that Mistral takes."""
        calls = [{**one, "id": self.legal(one["id"])} for one in read["calls"]]
        return super().turn({**read, "calls": calls}, results)

    def legal(self, id):
        return id if re.fullmatch(r"[a-zA-Z0-9]{9}", id) else hashlib.sha256(id.encode()).hexdigest()[:9]

    def read(self, response, stream):
        if stream:
            assert response.text.endswith("data: [DONE]\n\n")
            chunks = sse(response.text)
            pieces = [chunk["choices"][0]["delta"] for chunk in chunks]
            body, finish = chunks[-1], chunks[-1]["choices"][0]["finish_reason"]
        else:
            body = response.json()
            pieces, finish = [body["choices"][0]["message"]], body["choices"][0]["finish_reason"]
        texts, thoughts = [], []
        for content in (piece.get("content") or "" for piece in pieces):
            for part in content if isinstance(content, list) else [{"type": "text", "text": content}]:
                if part["type"] == "thinking":
                    thoughts += [inner["text"] for inner in part["thinking"]]
                else:
                    texts.append(part["text"])
        calls = [one for piece in pieces for one in piece.get("tool_calls") or []]
        read = [{**one["function"], "id": one["id"], "raw": one["function"]["arguments"]} for one in calls]
        return self._read("".join(texts), read, finish, body.get("usage", {}), {"reasoning_content": "".join(thoughts)})


class OllamaClient(ChatClient):
    name = "ollama"

    def address(self, llm, stream=False):
        return f"{llm.ollama_url}/api/chat"

    def events(self, response):
        assert not response.text or response.text.endswith("\n")
        return [json.loads(line) for line in response.text.splitlines()]

    def error(self, response):
        return response.json()["error"], None

    def request(self, text="hello", *, stream=False, **options):
        """Streaming is what it does unasked."""
        body = super().request(text, **options)
        return body if stream else {**body, "stream": False}

    def turn(self, read, results):
        calls = [{"function": {"name": one["name"], "arguments": json.loads(one["raw"])}} for one in read["calls"]]
        said = {"role": "assistant", "content": read["text"], **({"tool_calls": calls} if calls else {})}
        pairs = zip(read["calls"], results, strict=True)
        return [said, *({"role": "tool", "tool_name": one["name"], "content": text} for one, text in pairs)]

    def read(self, response, stream):
        lines = self.events(response) if stream else [response.json()]
        assert [line["done"] for line in lines] == [False] * (len(lines) - 1) + [True]
        messages = [line["message"] for line in lines]
        calls = [one for message in messages for one in message.get("tool_calls", [])]
        return {
            "text": "".join(message["content"] for message in messages),
            "reasoning": "".join(message.get("thinking", "") for message in messages),
            "calls": [
                {
                    "id": one.get("id"),
                    "name": one["function"]["name"],
                    "raw": json.dumps(one["function"]["arguments"], separators=(",", ":")),
                }
                for one in calls
            ],
            "finish": lines[-1]["done_reason"],
            "usage": self.usage(lines[-1], "prompt_eval_count", "eval_count"),
        }
