/**
 * Test results of one suite. `notes` explain the failures other than failed tests, such as a file that did not load or
 * a skipped test.
 */
export interface Totals {
  passed: number;
  failed: number;
  notes: string[];
}

interface VitestReport {
  testResults: {
    name: string;
    status: string;
    message?: string;
    assertionResults: { status: string; fullName: string }[];
  }[];
}

interface PlaywrightReport {
  stats: { expected: number; unexpected: number; flaky: number; skipped: number };
  errors: { message?: string }[];
}

/**
 * Reads vitest's JSON report. Tests that did not run (skipped, todo) and files in which no test could start count as
 * failed. `report` is undefined if the suite did not write one.
 */
export function vitestTotals(report: VitestReport | undefined, exitCode: number): Totals {
  if (report === undefined) return notStarted(exitCode);
  const totals: Totals = { passed: 0, failed: 0, notes: [] };
  for (const file of report.testResults) {
    const failedBefore = totals.failed;
    for (const { status, fullName } of file.assertionResults) {
      if (status === 'passed') totals.passed++;
      else totals.failed++;
      if (status !== 'passed' && status !== 'failed') totals.notes.push(`${status}: ${fullName}`);
    }
    if (file.status === 'failed' && totals.failed === failedBefore) {
      totals.failed++;
      totals.notes.push(`did not load: ${file.name}`);
    }
  }
  return closed(totals, exitCode);
}

/** Reads Playwright's JSON report. Skipped tests, flaky tests and errors outside a test count as failed. */
export function playwrightTotals(report: PlaywrightReport | undefined, exitCode: number): Totals {
  if (report === undefined) return notStarted(exitCode);
  const { expected, unexpected, flaky, skipped } = report.stats;
  const notes = report.errors.map((error) => error.message?.split('\n')[0] ?? 'an error outside the tests');
  if (flaky > 0) notes.push(`flaky: ${flaky}`);
  if (skipped > 0) notes.push(`did not run: ${skipped}`);
  return closed({ passed: expected, failed: unexpected + flaky + skipped + report.errors.length, notes }, exitCode);
}

/** Returns totals for a step without tests, which count only if it fails. */
export function stepTotals(exitCode: number): Totals {
  return exitCode === 0
    ? { passed: 0, failed: 0, notes: [] }
    : { passed: 0, failed: 1, notes: [`ended with ${exitCode}`] };
}

/** Formats the last line that the run prints. */
export function lastLine(all: readonly Totals[]): string {
  const sum = (pick: (totals: Totals) => number) => all.reduce((total, totals) => total + pick(totals), 0);
  return `${sum((totals) => totals.passed)} passed, ${sum((totals) => totals.failed)} failed`;
}

function notStarted(exitCode: number): Totals {
  return { passed: 0, failed: 1, notes: [`did not start or left no report (ended with ${exitCode})`] };
}

/** Adds a failure if a suite has no tests, or failed although every test passed. */
function closed(totals: Totals, exitCode: number): Totals {
  if (totals.failed > 0) return totals;
  if (totals.passed === 0) return { ...totals, failed: 1, notes: [...totals.notes, 'no test ran'] };
  if (exitCode !== 0) return { ...totals, failed: 1, notes: [...totals.notes, `ended with ${exitCode}`] };
  return totals;
}
