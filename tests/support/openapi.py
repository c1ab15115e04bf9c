#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Holds openapi.yaml against the daemons.
   openapi.py routes BIN_DIR          every route of the daemons is in it, and no other; scopes, bodies and names agree
   openapi.py answers FOLDER          what the tests were answered (tests/support/exchange.h) is what it says
   openapi.py answers FOLDER BIN_DIR  and no route is left out by the tests
Each fault is a line; status 1 then."""
import json
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import parse_qsl, unquote

import jsonschema
import yaml

ROOT = Path(__file__).resolve().parents[2]
METHODS = ("get", "put", "post", "delete", "patch")
DAEMONS = ("scheduler", "fulfiller", "reconciler")
FAULTS_MAX = 60
# What an answer may not carry without openapi.yaml saying so.
TOLD_HEADERS = {"location", "etag", "idempotent-replayed", "retry-after", "ratelimit", "ratelimit-policy", "content-language", "vary", "www-authenticate", "allow"}


class Faults:
    def __init__(self):
        self.seen = {}

    def add(self, text):
        self.seen[text] = self.seen.get(text, 0) + 1

    def end(self, done):
        for text, times in list(self.seen.items())[:FAULTS_MAX]:
            print(text + (f" (and {times - 1} more like it)" if times > 1 else ""))
        if len(self.seen) > FAULTS_MAX:
            print(f"… and {len(self.seen) - FAULTS_MAX} further faults")
        if not self.seen:
            print(done)
        return 1 if self.seen else 0


# --- the document

def load():
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    document = yaml.load((ROOT / "openapi.yaml").read_text(encoding="utf-8"), Loader=loader)
    return resolve(document, document, {})


def at_pointer(document, pointer):
    for part in pointer[2:].split("/"):
        document = document[part.replace("~1", "/").replace("~0", "~")]
    return document


def resolve(node, document, known):
    """The same with what each $ref names in its place."""
    if isinstance(node, list):
        return [resolve(item, document, known) for item in node]
    if not isinstance(node, dict):
        return node
    if isinstance(node.get("$ref"), str):
        pointer = node["$ref"]
        if pointer not in known:
            known[pointer] = resolve(at_pointer(document, pointer), document, known)
        return known[pointer]
    return {name: resolve(value, document, known) for name, value in node.items()}


class Operation:
    def __init__(self, path, method, item, operation):
        self.path, self.method, self.is_met = path, method.upper(), False
        self.body = operation.get("requestBody")
        self.responses = {str(status): response for status, response in operation["responses"].items()}
        self.id = operation["operationId"]
        self.daemons = [server["description"] for server in operation.get("servers", item["servers"])]
        self.scopes = [scope for choice in operation["security"] for scope in choice["bearer"]]
        self.other_scopes = operation.get("x-scopes", {})  # of a daemon where they differ
        parameters = item.get("parameters", []) + operation.get("parameters", [])
        self.path_names = {p["name"] for p in parameters if p["in"] == "path"}
        self.query = {p["name"]: p["schema"] for p in parameters if p["in"] == "query"}
        self.pattern = re.compile("/".join("([^/]+)" if part.startswith("{") else re.escape(part) for part in path.split("/")) + "$")

    def __str__(self):
        return f"{self.method} {self.path}"


def operations_of(document):
    return [Operation(path, method, item, item[method]) for path, item in document["paths"].items() for method in METHODS if method in item]


# --- routes

def routes_of(daemon, bin_dir):
    answer = subprocess.run([f"{bin_dir}/{daemon}", "routes"], check=True, capture_output=True, text=True)
    return [line.split(" ") for line in answer.stdout.splitlines()]


def body_of(operation):
    if not operation.body:
        return "-"
    kinds = [name for name, kind in (("json", "application/json"), ("csv", "text/csv")) if kind in operation.body["content"]]
    if {"application/x-www-form-urlencoded", "application/octet-stream"} & set(operation.body["content"]):
        return "any"
    return ",".join(kinds) + ("" if operation.body.get("required") else "?")


def check_routes(bin_dir):
    faults, operations = Faults(), operations_of(load())
    count = 0
    for daemon in DAEMONS:
        told = {(o.method, o.path): o for o in operations if daemon in o.daemons}
        for method, path, scopes, body, label in routes_of(daemon, bin_dir):
            count += 1
            o = told.pop((method, path), None)
            where = f"openapi.yaml: {method} {path} of the {daemon}"
            if o is None:
                faults.add(f"{where}: is missing")
                continue
            wanted = o.other_scopes.get(daemon, o.scopes)
            if sorted(wanted) != sorted(scopes.replace("-", "").split(",") if scopes != "-" else []):
                faults.add(f"{where}: scopes are {scopes}, not {','.join(wanted) or '-'}")
            if body_of(o) != body:
                faults.add(f"{where}: the body is {body}, not {body_of(o)}")
            if path != "/healthz" and o.id != label:
                faults.add(f"{where}: operationId is {o.id}, not {label}")
            if o.path_names != set(re.findall(r"{(\w+)}", path)):
                faults.add(f"{where}: its path parameters are described otherwise")
        for o in told.values():
            faults.add(f"openapi.yaml: {o}: the {daemon} has no such route")
    examples = list(examples_of(load()))
    for where, schema, example in examples:
        for error in jsonschema.Draft202012Validator(schema).iter_errors(example):
            faults.add(f"{where}: {error.json_path}: {error.message[:200]}")
    return faults.end(f"{count} routes, {len(examples)} examples")


def examples_of(document):
    """Each example of a body, with its place and schema."""
    for path, item in document["paths"].items():
        for method in (m for m in METHODS if m in item):
            bodies = [("request", item[method].get("requestBody", {}))] + list(item[method]["responses"].items())
            for name, body in bodies:
                for kind, content in body.get("content", {}).items():
                    given = [content["example"]] if "example" in content else []
                    for example in given + [named["value"] for named in content.get("examples", {}).values()]:
                        yield f"openapi.yaml: {method.upper()} {path}: {name}: example of {kind}", content["schema"], example


# --- texts for people

def catalogue():
    """The English texts that have a Chinese one, as patterns: rows of the messages.def files."""
    rows = []
    for file in ("common/messages.def", "sql/messages.def", "sql/finding_messages.def", *(f"{daemon}/messages.def" for daemon in DAEMONS)):
        text = (ROOT / file).read_text(encoding="utf-8")
        rows += re.findall(r'^MESSAGE\("((?:[^"\\]|\\.)*)", "', text, re.MULTILINE)
    parts = (re.split(r"%[1-9]", row.replace('\\"', '"')) for row in rows)
    return re.compile("(?:[^ ]+: )*(?:" + "|".join("(?s:.+)".join(map(re.escape, part)) for part in parts) + ")$")


# --- answers

class Checker:
    def __init__(self, faults):
        self.faults, self.operations = faults, operations_of(load())
        # As the daemons do it: of two that fit, the one with the earlier literal.
        self.operations.sort(key=lambda o: [part.startswith("{") for part in o.path.split("/")])
        self.validators, self.checked = {}, set()
        self.refused = next(o for o in self.operations).responses["default"]
        self.texts, self.exchanges, self.bodies = catalogue(), 0, 0

    def find(self, daemon, method, path):
        method = "GET" if method == "HEAD" else method
        return next((o for o in self.operations if daemon in o.daemons and o.method == method and o.pattern.match(path)), None)

    def faults_of(self, schema, value):
        key = id(schema)
        if key not in self.validators:
            self.validators[key] = jsonschema.Draft202012Validator(schema)
        for error in sorted(self.validators[key].iter_errors(value), key=lambda e: len(e.absolute_path)):
            while error.context:  # of alternatives, the one that comes closest
                error = min(error.context, key=lambda e: (e.validator == "additionalProperties", -len(e.absolute_path)))
            place = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in error.absolute_path)
            yield "$" + re.sub(r"\[[0-9]+\]", "[]", place), error.message[:200]

    def is_new(self, *what):
        """Whether such a thing has not been looked at yet: most answers are alike."""
        if what in self.checked:
            return False
        self.checked.add(what)
        return True

    def check_headers(self, where, response, head, status):
        given = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
        given = {name.lower(): value for name, value in given.items()}
        told = {name.lower(): header for name, header in response.get("headers", {}).items()}
        if not self.is_new(id(response), status, tuple(sorted((n, v if n == "vary" else "") for n, v in given.items() if n in TOLD_HEADERS))):
            return
        for name, header in told.items():
            if header.get("required") and name not in given:
                self.faults.add(f"{where}: no header {name}")
            for _, message in self.faults_of(header["schema"], given[name]) if name in given else ():
                self.faults.add(f"{where}: header {name}: {message}")
        for name in sorted(TOLD_HEADERS & set(given) - set(told)):
            self.faults.add(f"{where}: header {name} is not described")

    def check_body(self, where, response, kind, head, body):
        content = response.get("content", {})
        kind = kind.split(";")[0]
        if kind not in content:
            if body or kind:
                self.faults.add(f"{where}: a body of {kind or 'no type'}, which is not described")
            return
        if not kind.endswith("json"):
            for place, message in self.faults_of(content[kind]["schema"], body):
                self.faults.add(f"{where}: {place}: {message}")
            return
        value = json.loads(body)
        self.check_texts(where, value, re.search(r"\r\ncontent-language: en\r", head, re.IGNORECASE))
        schema = content[kind]["schema"]
        if not self.is_new(id(schema), shape(value)):
            return
        self.bodies += 1
        for place, message in self.faults_of(schema, value):
            self.faults.add(f"{where}: {place}: {message}")

    def check_texts(self, where, value, is_english):
        """Where an answer says that it is English, each text in it has a Chinese one."""
        if not is_english or not isinstance(value, dict):
            return
        told = [value.get("detail"), value.get("refusal", {}).get("detail")] + [row["detail"] for row in value.get("warnings", [])]
        told += [row["reason"] if "line" in row else row["detail"] for row in value.get("rejected", [])]
        for text in told + list(self.texts_of_findings(value)):
            if text and self.is_new(text) and not self.texts.match(text):
                self.faults.add(f"{where}: no messages.def has a Chinese text for: {text}")

    @staticmethod
    def texts_of_findings(value):
        """What findings, definitions of audits and repairs say; figures alone and amounts need no words."""
        moment, findings = value.get("moment") or {}, value.get("findings")
        items = [value] + (value.get("items") or []) + (moment.get("findings") or []) + (findings.get("items", []) if isinstance(findings, dict) else [])
        for item in items:
            told = [item.get(name) for name in ("expected", "actual", "explanation", "nextStep", "before", "after")]
            told += [item.get("cause") if "nextStep" in item else None, item["repair"].get("text") if isinstance(item.get("repair"), dict) else None]
            yield from (text for text in told if isinstance(text, str) and re.search(r"[a-z]{2}", text))

    def check_sent(self, where, operation, exchange, query):
        for name, value in parse_qsl(query, keep_blank_values=True):
            if name == "unknown":  # a test asks for something that no call has
                continue
            if name not in operation.query:
                self.faults.add(f"{where}: parameter {name} is not described")
            elif operation.query[name].get("enum") and value not in operation.query[name]["enum"]:
                self.faults.add(f"{where}: parameter {name}={value} is not described")
        sent = exchange["sent"]
        if not sent or "csv" in (exchange["sentHeaders"] or "") or operation.id == "callbacks":
            return
        if not operation.body:
            return
        value, schema = json.loads(sent), operation.body["content"]["application/json"]["schema"]
        if self.is_new(id(schema), shape(value)):
            self.bodies += 1
            for place, message in self.faults_of(schema, value):
                self.faults.add(f"{where}: the request, {place}: {message}")

    def check(self, exchange):
        self.exchanges += 1
        if exchange["head"] is None or exchange["path"] is None:
            return
        path, _, query = exchange["path"].partition("?")
        operation = self.find(exchange["daemon"], exchange["method"], unquote(path) if "%2F" not in path.upper() else path)
        status, head = exchange["status"], exchange["head"]
        where = f"{exchange['test']}: {exchange['daemon']}: {exchange['method']} {operation.path if operation else path}: {status}"
        if exchange["method"] == "OPTIONS":
            return
        response = self.refused
        if operation:
            operation.is_met = operation.is_met or status < 500
            response = operation.responses.get(str(status), operation.responses["default"])
            if response is operation.responses["default"] and status < 400:
                self.faults.add(f"{where}: this status is not described")
                return
        elif status < 400:
            self.faults.add(f"{where}: there is no such call")
            return
        kind = re.search(r"\r\ncontent-type: ([^\r]*)", head, re.IGNORECASE)
        self.check_headers(where, response, head, status)
        if exchange["body"] is not None and exchange["method"] != "HEAD":
            self.check_body(where, response, kind.group(1) if kind else "", head, exchange["body"])
        if operation and status < 300:
            self.check_sent(where, operation, exchange, query)


WORDS = re.compile(r"^[A-Za-z_][A-Za-z_-]{0,30}$")


def shape(value):
    """A value without what makes no difference to a schema: letters and digits of longer texts, how many items a list has."""
    if isinstance(value, dict):
        return tuple(sorted((name, shape(item)) for name, item in value.items()))
    if isinstance(value, list):
        return ("list", tuple(sorted({repr(shape(item)) for item in value})))
    if isinstance(value, str):
        return value if WORDS.match(value) else re.sub(r"[a-z]+", "a", re.sub(r"[0-9]+", "9", value))[:80]
    if isinstance(value, bool) or value is None:
        return value
    return (type(value).__name__, (value > 0) - (value < 0))


def check_answers(folder, bin_dir):
    faults = Faults()
    checker = Checker(faults)
    for file in sorted(Path(folder).glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").split("\n")[:-1]:
            checker.check(json.loads(line))
    if bin_dir:
        for operation in checker.operations:
            if not operation.is_met:
                faults.add(f"no test has called {operation} ({operation.id})")
    return faults.end(f"{checker.exchanges} answers, {checker.bodies} different bodies")


def main(arguments):
    if len(arguments) == 2 and arguments[0] == "routes":
        return check_routes(arguments[1])
    if len(arguments) in (2, 3) and arguments[0] == "answers":
        return check_answers(arguments[1], arguments[2] if len(arguments) == 3 else None)
    print(__doc__, file=sys.stderr)
    return 64


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
