"""`officellm testing serve`, as a process."""

import json
import os
import re
import signal
import subprocess
import sys

import httpx
import pytest
from click.testing import CliRunner

import officellm.testing
from officellm.cli.testing import testing as command
from officellm.errors import ConfigError

PROGRAM = [sys.executable, "-c", "from officellm.cli.testing import testing; testing()", "serve"]


def test_it_prints_its_addresses_on_stderr_serves_and_ends_on_ctrl_c(tmp_path, wire):
    script = tmp_path / "script.json"
    script.write_text(json.dumps(["from the file"]), encoding="utf-8")
    process = subprocess.Popen(
        [*PROGRAM, "--script", str(script)],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        # Tests that were started in the background would hand on an ignored SIGINT.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        lines = []
        for line in iter(process.stderr.readline, ""):
            lines.append(line)
            if "recorded" in line:
                break
        root = re.search(r"http://[\d.:]+", lines[0])[0]

        class Served:
            url, openai_url, anthropic_url, gemini_url = root, f"{root}/v1", f"{root}/v1", f"{root}/v1beta"
            cohere_url, mistral_url, ollama_url = f"{root}/cohere", f"{root}/mistral/v1", root
            responses_url, bedrock_url = f"{root}/v1", root

        response = httpx.post(wire.address(Served), json=wire.request(), headers=wire.headers())
        assert wire.read(response, stream=False)["text"] == "from the file"
        assert httpx.get(f"{root}/requests").json()["count"] == 1
        name = wire.name.removesuffix("_invoke")
        assert any(name in line and line.split()[1] == getattr(Served, f"{name}_url") for line in lines)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=10)
        assert (process.returncode, out) == (0, "")
    finally:
        process.kill()
        process.communicate()


def test_a_script_with_a_mistake_is_a_config_error(tmp_path):
    script = tmp_path / "script.yaml"
    script.write_text("[{texte: x}]", encoding="utf-8")
    result = CliRunner().invoke(command, ["serve", "--script", str(script)])
    assert isinstance(result.exception, ConfigError)


def test_faults_prints_the_table():
    result = CliRunner().invoke(command, ["serve", "--faults"])
    assert result.exit_code == 0
    assert "| 429 | HTTP 429: rate_limit | all |" in result.output


@pytest.mark.parametrize("module", ["officellm.testing", "officellm.cli.testing"])
def test_importing_loads_no_server(module):
    code = f"import {module}, sys; print([name for name in ('aiohttp', 'httpx', 'yaml') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    assert done.stdout.strip() == "[]"


def test_every_public_name_can_be_imported():
    assert all(getattr(officellm.testing, name) is not None for name in officellm.testing.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        officellm.testing.nothing
