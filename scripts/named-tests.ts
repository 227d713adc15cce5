const testName = /[\w./-]+\.(?:test|spec)\.tsx?/g;

/**
 * Checks a page that lists claims with their tests. Returns errors for missing test files, and for rows of the first
 * table or sections (`##`) that name no test. Paths are relative to the root.
 */
export function namedTestFaults(text: string, unit: 'rows' | 'sections', exists: (path: string) => boolean): string[] {
  const absent = [...text.matchAll(testName)]
    .map(([name]) => name.replace(/^(\.\.\/)+/, ''))
    .filter((name) => !exists(name))
    .map((name) => `there is no test ${name}`);
  const bare = (unit === 'rows' ? rowsOf(text) : sectionsOf(text))
    .filter((part) => part.search(testName) < 0)
    .map((part) => `no test is named for "${titleOf(part)}"`);
  return [...absent, ...bare];
}

/** Returns the rows of the first table, without its header. */
function rowsOf(text: string): string[] {
  const table = /(?:^\|.*\n)+/m.exec(text)?.[0] ?? '';
  return table.trim().split('\n').slice(2);
}

const sectionsOf = (text: string): string[] => text.split(/^## /m).slice(1);

const titleOf = (part: string): string => part.replace(/^\|\s*/, '').split(/\s*[|\n]/)[0] ?? '';
