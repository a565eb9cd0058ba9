// Starts the live view of a saved report; where it cannot, the still form stays.

// What the views of a page share: here there is one.
const PAGE = {};

let report = null;

async function startReport() {
  const still = document.querySelector(".mxp-still");
  const { head, columns } = await unpackReport(document.querySelector(".mxp-data").textContent);
  report = new ReportView(head, columns, document.title);
  report.show(still);
}

startReport();
