# Renders the chart with Helm's own engine, as `helm template` does: values as JSON on
# standard input, {"lint": [...], "manifests": {...}} or {"error": "..."} on standard output.
import json
import sys

from helm_python import Chart, lint

chart, values = sys.argv[1], json.load(sys.stdin)
try:
    with Chart.load(chart) as c:
        out = {"manifests": c.render(values, name="edigw", namespace="edi"), "lint": lint(chart, values=values)}
except Exception as e:  # whatever Helm says is the answer
    out = {"error": str(e)}
json.dump(out, sys.stdout, default=str)
