import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/** A test, or a whole file, that failed. `reason` is the first line of its error. */
export interface FailedTest {
  file: string;
  name: string;
  reason: string;
}

/**
 * Test results of one suite. `failures` lists the failures that a second run of their files could clear; `notes`
 * explains the other failures, such as a skipped test, and lists the tests that passed only in a second run.
 */
export interface Totals {
  passed: number;
  failed: number;
  failures: FailedTest[];
  notes: string[];
}

/** If more files than this fail, none of them is run again. */
const repeatedFiles = 3;

interface VitestReport {
  testResults: {
    name: string;
    status: string;
    message?: string;
    assertionResults: { status: string; fullName: string; failureMessages?: string[] | null }[];
  }[];
}

interface PlaywrightSuite {
  suites?: PlaywrightSuite[];
  specs?: {
    title: string;
    file: string;
    ok: boolean;
    tests: { results: { errors?: { message?: string }[] }[] }[];
  }[];
}

interface PlaywrightReport extends PlaywrightSuite {
  stats: { expected: number; unexpected: number; flaky: number; skipped: number };
  errors: { message?: string }[];
}

/**
 * Reads vitest's JSON report. Tests that did not run (skipped, todo) and files in which no test could start count as
 * failed. `report` is undefined if the suite did not write one.
 */
export function vitestTotals(report: VitestReport | undefined, exitCode: number): Totals {
  if (report === undefined) return notStarted(exitCode);
  const totals: Totals = { passed: 0, failed: 0, failures: [], notes: [] };
  for (const file of report.testResults) {
    const failedBefore = totals.failed;
    for (const { status, fullName, failureMessages } of file.assertionResults) {
      if (status === 'passed') totals.passed++;
      else totals.failed++;
      if (status === 'failed')
        totals.failures.push({ file: file.name, name: fullName, reason: firstLine(failureMessages?.[0]) });
      else if (status !== 'passed') totals.notes.push(`${status}: ${fullName}`);
    }
    if (file.status === 'failed' && totals.failed === failedBefore) {
      totals.failed++;
      totals.failures.push({ file: file.name, name: 'the file', reason: firstLine(file.message) });
    }
  }
  return closed(totals, exitCode);
}

/** Reads Playwright's JSON report. Skipped tests, flaky tests and errors outside a test count as failed. */
export function playwrightTotals(report: PlaywrightReport | undefined, exitCode: number): Totals {
  if (report === undefined) return notStarted(exitCode);
  const { expected, unexpected, flaky, skipped } = report.stats;
  const notes = report.errors.map((error) => firstLine(error.message));
  if (flaky > 0) notes.push(`flaky: ${flaky}`);
  if (skipped > 0) notes.push(`did not run: ${skipped}`);
  const failed = unexpected + flaky + skipped + report.errors.length;
  const failures = unexpected > 0 ? failedSpecs(report) : [];
  return closed({ passed: expected, failed, failures, notes }, exitCode);
}

function failedSpecs(suite: PlaywrightSuite): FailedTest[] {
  const own = (suite.specs ?? [])
    .filter((spec) => !spec.ok)
    .map(({ file, title, tests }) => {
      const [error] = tests.flatMap((test) => test.results.flatMap((result) => result.errors ?? []));
      return { file, name: title, reason: firstLine(error?.message) };
    });
  return [...own, ...(suite.suites ?? []).flatMap(failedSpecs)];
}

/**
 * Returns the failed files, to run them a second time; none if too many failed, or if something other than a test or a
 * file failed. On a busy machine, tests that depend on timing can fail.
 */
export function filesToRepeat({ failed, failures }: Totals): string[] {
  const files = [...new Set(failures.map(({ file }) => file))];
  return failures.length === failed && files.length <= repeatedFiles ? files : [];
}

/** Returns the totals of a suite whose failed files ran a second time. Notes list the tests that passed only then. */
export function afterRepeat(first: Totals, second: Totals): Totals {
  const notes = [...first.notes, ...second.notes];
  if (second.passed === 0) return { ...first, notes };
  const failed = Math.min(second.failed, first.failed);
  const failsAgain = ({ file, name }: FailedTest) =>
    second.failures.some((failure) => failure.file === file && failure.name === name);
  const unsteady = first.failures.filter((failure) => !failsAgain(failure));
  notes.push(...unsteady.map((failure) => `passed only the second time: ${words(failure)}`));
  return { passed: first.passed + first.failed - failed, failed, failures: second.failures, notes };
}

/** Formats the failures and notes of a suite, one per line. */
export function explanations({ failures, notes }: Totals): string[] {
  return [...failures.map((failure) => `failed: ${words(failure)}`), ...notes];
}

/** Returns totals for a step without tests, which count only if it fails. */
export function stepTotals(exitCode: number): Totals {
  return exitCode === 0
    ? { passed: 0, failed: 0, failures: [], notes: [] }
    : { passed: 0, failed: 1, failures: [], notes: [`ended with ${exitCode}`] };
}

/** Formats the last line that the run prints. */
export function lastLine(all: readonly Totals[]): string {
  const sum = (pick: (totals: Totals) => number) => all.reduce((total, totals) => total + pick(totals), 0);
  return `${sum((totals) => totals.passed)} passed, ${sum((totals) => totals.failed)} failed`;
}

function notStarted(exitCode: number): Totals {
  return { passed: 0, failed: 1, failures: [], notes: [`did not start or left no report (ended with ${exitCode})`] };
}

/** Adds a failure if a suite has no tests, or failed although every test passed. */
function closed(totals: Totals, exitCode: number): Totals {
  if (totals.failed > 0) return totals;
  if (totals.passed === 0) return { ...totals, failed: 1, notes: [...totals.notes, 'no test ran'] };
  if (exitCode !== 0) return { ...totals, failed: 1, notes: [...totals.notes, `ended with ${exitCode}`] };
  return totals;
}

function words({ file, name, reason }: FailedTest): string {
  const shown = path.isAbsolute(file) ? path.relative(process.cwd(), file) : file;
  return `${shown}: ${name}: ${reason}`;
}

function firstLine(message: string | undefined): string {
  return (
    stripVTControlCharacters(message ?? 'no message')
      .split('\n')[0]
      ?.slice(0, 300) ?? ''
  );
}
