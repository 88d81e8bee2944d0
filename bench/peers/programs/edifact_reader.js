// Reads each file with node-edifact: its name, "read" and the number of segments, or "refused" and why.
const fs = require("fs");
const Parser = require("edifact/parser.js");
for (const name of process.argv.slice(2)) {
  try {
    const parser = new Parser();
    let segments = 0;
    parser.onopensegment = (tag) => { if (tag !== "UNA") segments++; };
    parser.onclosesegment = parser.onelement = parser.oncomponent = () => {};
    const text = fs.readFileSync(name, "latin1");
    // It reads capitals alone unless told; told, it no longer finds every UNA.
    if (!text.startsWith("UNA")) parser.encoding("UNOY");
    parser.write(text);
    parser.end();
    console.log([name, "read", segments].join("\t"));
  } catch (e) {
    console.log([name, "refused", String(e).replace(/\s+/g, " ")].join("\t"));
  }
}
