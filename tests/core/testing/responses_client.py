"""A small client for OpenAI's Responses wire, as those in `clients.py`. It believes no stream that does not add up."""

import re

from .clients import TOOL, Client


class ResponsesClient(Client):
    name = "responses"

    def address(self, llm, stream=False):
        return f"{llm.responses_url}/responses"

    def headers(self, key="k"):
        return {"authorization": f"Bearer {key}"}

    def request(self, text="hello", *, system="You help.", history=(), tools=True, stream=False, model="gpt-4.1"):
        body = {"model": model, "instructions": system, "input": [{"role": "user", "content": text}, *history]}
        body |= {"store": False, "include": ["reasoning.encrypted_content"]}
        if tools:
            function = {"name": "search", "description": "Finds pages", "parameters": TOOL, "strict": False}
            body["tools"] = [{"type": "function", **function}]
        return body | ({"stream": True} if stream else {})

    def turn(self, read, results):
        said = read.get("items")
        if said is None:
            said = [{"role": "assistant", "content": read["text"]}] if read["text"] else []
            for one in read["calls"]:
                said.append(
                    {"type": "function_call", "call_id": one["id"], "name": one["name"], "arguments": one["raw"]}
                )
        pairs = zip(read["calls"], results, strict=True)
        return [*said, *({"type": "function_call_output", "call_id": one["id"], "output": t} for one, t in pairs)]

    def read(self, response, stream):
        body = self.folded(response) if stream else response.json()
        items = body["output"]
        parts = [part for item in items if item["type"] == "message" for part in item["content"]]
        usage = body["usage"] or {}
        return {
            "text": "".join(part.get("text", "") for part in parts),
            "refusal": "".join(part.get("refusal", "") for part in parts),
            "reasoning": "".join(
                part["text"] for item in items if item["type"] == "reasoning" for part in item["summary"]
            ),
            "calls": [
                {"id": item["call_id"], "name": item["name"], "raw": item["arguments"]}
                for item in items
                if item["type"] == "function_call"
            ],
            "finish": (body["incomplete_details"] or {}).get("reason", body["status"]),
            "usage": (usage.get("input_tokens"), usage.get("output_tokens")),
            "items": items,
        }

    def folded(self, response):
        """The response of the last event; what the events before it gave must add up to the same output."""
        events = self.events(response)
        assert re.findall(r"^event: (.+)$", response.text, re.MULTILINE) == [one["type"] for one in events]
        assert [one["sequence_number"] for one in events] == list(range(len(events)))
        assert [one["type"] for one in events[:2]] == ["response.created", "response.in_progress"]
        items, ids = [], []
        for one in events[2:-1]:
            kind = one["type"].removeprefix("response.")
            if kind == "output_item.added":
                assert one["output_index"] == len(items)
                items.append(one["item"])
                ids.append(one["item"]["id"])
                continue
            item = items[one["output_index"]]
            assert one.get("item_id", item["id"]) == item["id"]
            if kind == "output_item.done":
                assert item == {**one["item"], "status": "in_progress"} if "status" in item else item == one["item"]
                items[one["output_index"]] = one["item"]
            else:
                self._grow(item, kind, one)
        whole = events[-1]["response"]
        assert events[-1]["type"] == f"response.{whole['status']}"
        assert items == whole["output"]
        return whole

    def _grow(self, item, kind, one):
        match kind:
            case "content_part.added":
                item["content"].append(one["part"])
            case "reasoning_summary_part.added":
                item["summary"].append(one["part"])
            case "output_text.delta" | "refusal.delta":
                part = item["content"][one["content_index"]]
                part["refusal" if kind == "refusal.delta" else "text"] += one["delta"]
            case "reasoning_summary_text.delta":
                item["summary"][one["summary_index"]]["text"] += one["delta"]
            case "function_call_arguments.delta":
                item["arguments"] += one["delta"]
            case "function_call_arguments.done":
                assert item["arguments"] == one["arguments"]
            case "content_part.done":
                assert item["content"][one["content_index"]] == one["part"]
            case "reasoning_summary_part.done":
                assert item["summary"][one["summary_index"]] == one["part"]
            case "output_text.done":
                assert item["content"][one["content_index"]]["text"] == one["text"]
            case "refusal.done":
                assert item["content"][one["content_index"]]["refusal"] == one["refusal"]
            case other:
                assert other == "reasoning_summary_text.done"
