"""deploy/: what would be put up is well formed, asks for no more than is used, and fits the program.

Nothing here is run: there is no engine and no cloud. The checks of Terraform and systemd themselves are
made where those programs are; `terraform validate` needs AWS's provider.
"""

import re
import shutil
import subprocess
import warnings
from pathlib import Path
from typing import Any

import hcl2
import pytest
import yaml

from loopforge.settings import load_settings, settings_rows

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"
TERRAFORM = sorted((DEPLOY / "terraform").glob("*.tf"))
CLIENTS = {
    "sqs": ("sqs.py", "queue_intake.py"),
    "dynamodb": ("dynamodb.py",),
}


def read(text: str) -> Any:
    """A file of Terraform."""
    return hcl2.loads(text)


def manifests() -> list[dict[str, Any]]:
    """The objects of Kubernetes."""
    return list(yaml.safe_load_all((DEPLOY / "kubernetes" / "loopforge.yaml").read_text("utf-8")))


def of_kind(kind: str) -> dict[str, Any]:
    """The one of a kind."""
    (found,) = [each for each in manifests() if each["kind"] == kind]
    return found


@pytest.mark.xdist_group("terraform")  # its grammar is read once in each process
@pytest.mark.parametrize("path", TERRAFORM, ids=lambda path: path.name)
def test_terraform_can_be_read(path: Path) -> None:
    """Each file is HCL."""
    assert read(path.read_text("utf-8"))


def test_terraform_is_laid_out_as_terraform_does() -> None:
    """Its own check finds nothing to change."""
    if (terraform := shutil.which("terraform")) is None:
        pytest.skip("terraform is not installed")
    line = [terraform, "fmt", "-check", "-recursive", str(DEPLOY)]
    done = subprocess.run(line, check=False, capture_output=True)
    assert done.returncode == 0, done.stdout


def test_rights_are_those_that_are_used() -> None:
    """Each action that the role may take on queues and tables is one that the code calls, and back.

    Attributes are asked by `doctor --deep` and so are descriptions; batches count as messages.
    """
    text = (DEPLOY / "terraform" / "role.tf").read_text("utf-8")
    assert "*" not in re.findall(r"actions\s*=\s*\[(.*?)\]", text, re.DOTALL)
    folder = ROOT / "src" / "loopforge" / "sinks"
    looks = {"sqs:GetQueueAttributes", "dynamodb:DescribeTable"}
    for service, files in CLIENTS.items():
        source = "".join((folder / name).read_text("utf-8") for name in files)
        called = {
            f"{service}:{''.join(word.capitalize() for word in each.split('_'))}"
            for each in re.findall(r"call\(\s*\"([a-z_]+)\"", source)
        }
        called.discard("sqs:SendMessageBatch")
        granted = set(re.findall(rf"\"({service}:\w+)\"", text))
        assert granted - looks == called


def test_outputs_name_what_is_set() -> None:
    """Each output says for which variable it is, and that is one of a setting."""
    variables = {name for row in settings_rows() for name in row.variables}
    text = (DEPLOY / "terraform" / "outputs.tf").read_text("utf-8")
    named = set(re.findall(r"For ([A-Z_]+)", text))
    assert (
        {"AGENTIC_EVENTS_QUEUE_URL", "DYNAMODB_SESSIONS_TABLE", "AWS_REGION"} <= named <= variables
    )
    assert "agentic_events_queue_url" in text


def test_kubernetes_takes_the_objects() -> None:
    """Each is as the schemas of Kubernetes want it, with nothing that they do not know."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import kubernetes_validate
    for each in manifests():
        kubernetes_validate.validate(each, kubernetes_validate.latest_version(), strict=True)


def test_the_pod_is_held_short_and_can_write_its_home(tmp_path: Path) -> None:
    """Nobody's root, no privileges, one host of its volume; variables are settings; probes are pages."""
    spec = of_kind("Deployment")["spec"]
    pod, (container,) = spec["template"]["spec"], spec["template"]["spec"]["containers"]
    image = (ROOT / "Containerfile").read_text("utf-8")
    assert (spec["replicas"], spec["strategy"]) == (1, {"type": "Recreate"})
    assert pod["securityContext"]["runAsNonRoot"]
    assert f"--uid {pod['securityContext']['runAsUser']}" in image
    assert "\nUSER loopforge\n" in image
    assert not container["securityContext"]["allowPrivilegeEscalation"]
    assert {each["mountPath"] for each in container["volumeMounts"]} == {"/loopforge", "/tmp"}
    probes = [
        container[f"{name}Probe"]["httpGet"]["path"]
        for name in ("startup", "liveness", "readiness")
    ]
    assert probes == ["/alive", "/alive", "/ready"]
    given = of_kind("ConfigMap")["data"] | of_kind("Secret")["stringData"]
    given["LOOPFORGE_METRICS_TOKEN"] = "x"
    assert load_settings(tmp_path, environ=given).strays == ()


def test_compose_says_the_same(tmp_path: Path) -> None:
    """Its container is as small in rights, listens to this machine alone, and sets settings."""
    (service,) = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))["services"].values()
    assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
    assert service["ports"] == ["127.0.0.1:8321:8321"]
    assert (DEPLOY / service["build"]["context"] / service["build"]["dockerfile"]).is_file()
    environ = {key: re.sub(r"\$\{.*?\}", "", text) for key, text in service["environment"].items()}
    settings = load_settings(tmp_path, environ=environ)
    assert settings.strays == ()
    known = {name for row in settings_rows() for name in row.variables}
    assert environ.keys() <= known


UNIT = DEPLOY / "systemd" / "loopforge.service"


def test_the_unit_is_one_that_systemd_takes(tmp_path: Path) -> None:
    """systemd's own check finds no unknown key or value, and does find one that is put in."""
    if (analyze := shutil.which("systemd-analyze")) is None:
        pytest.skip("systemd-analyze is not installed")
    text = re.sub(
        r"^ExecStart=.*", "ExecStart=/bin/true", UNIT.read_text("utf-8"), flags=re.MULTILINE
    )
    text = text.replace("\nUser=loopforge\n", "\n")
    for wrong in ("", "ProtectTime=yes\n"):
        (tmp_path / UNIT.name).write_text(text.replace("[Service]\n", f"[Service]\n{wrong}"))
        line = [analyze, "verify", "--man=no", "--recursive-errors=no", str(tmp_path / UNIT.name)]
        done = subprocess.run(line, check=False, capture_output=True, text=True)
        assert (done.returncode, "Unknown key" in done.stderr) == (bool(wrong), bool(wrong))


def test_the_unit_fits_the_program(tmp_path: Path) -> None:
    """Its variables are settings, it starts a command that is there, and forbids no sandbox."""
    lines = [each.partition("=") for each in UNIT.read_text("utf-8").splitlines()]
    keys = {key: value for key, _, value in lines if not key.startswith("#")}
    given = dict(value.split("=", 1) for key, _, value in lines if key == "Environment")
    home = given.pop("LOOPFORGE_HOME")
    assert home == keys["WorkingDirectory"] == f"%S/{keys['StateDirectory']}"
    assert given["LOOPFORGE_LOG_TO"] == "stderr"
    assert load_settings(tmp_path, environ=given).strays == ()
    assert keys["ExecStart"].endswith("/bin/loopforge up --headless")
    assert keys["RestartPreventExitStatus"] == "2 3"
    left_out = re.search(r"left out:\n# (.*)\.", UNIT.read_text("utf-8"))
    assert left_out
    assert not set(left_out[1].split(", ")) & set(keys)
