#!/bin/bash
# The oracle's actions, as any client of the Model Context Protocol would call them.
set -euo pipefail
url=http://127.0.0.1:8000/mcp
headers=(-H "Content-Type: application/json" -H "Accept: application/json, text/event-stream")

post() {
    curl --silent --show-error --fail --max-time 120 "${headers[@]}" --data-binary "$1" "$url"
}

session=$(
    curl --silent --show-error --fail --max-time 120 --dump-header - --output /dev/null "${headers[@]}" --data-binary \
        '{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "oracle", "version": "1"}}}' \
        "$url" | tr -d '\r' | sed -n 's/^mcp-session-id: *//Ip'
)
headers+=(-H "Mcp-Session-Id: $session")
post '{"jsonrpc": "2.0", "method": "notifications/initialized"}'
while IFS= read -r call; do
    said=$(post "$call")
    sed -n 's/.*"text": *"\([^"]*\)".*/\1/p' <<< "$said"
done < "$(dirname "$0")/calls.jsonl"
