// Reads each file with node-x12: its name, "read" and the number of segments, or "refused" and why.
const fs = require("fs");
const { X12Parser } = require("node-x12");
(async () => {
  for (const name of process.argv.slice(2)) {
    try {
      const parser = new X12Parser(true);
      const doc = parser.parse(fs.readFileSync(name, "latin1"));
      let segments = 0;
      for (const i of doc.interchanges || [doc]) {
        segments += 2;
        for (const g of i.functionalGroups) {
          segments += 2;
          for (const t of g.transactions) segments += 2 + t.segments.length;
        }
      }
      console.log([name, "read", segments].join("\t"));
    } catch (e) {
      console.log([name, "refused", String(e).replace(/\s+/g, " ")].join("\t"));
    }
  }
})();
