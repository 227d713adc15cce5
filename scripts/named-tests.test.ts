import { expect, test } from 'vitest';
import { namedTestFaults } from './named-tests.ts';

const exists = (path: string) => path === 'server/a.test.ts';

test('every row of claims must name an existing test', () => {
  const page = `# Claims

| What | How |
| --- | --- |
| One | It is so (\`server/a.test.ts\`). |
| Two | It is so (\`server/b.spec.ts\`). |
| Three | It is so. |

## Advice
`;
  expect(namedTestFaults(page, 'rows', exists)).toEqual([
    'there is no test server/b.spec.ts',
    'no test is named for "Three"',
  ]);
});

test('every section must name an existing test too, possibly by a relative link', () => {
  const page = '# Claims\n\n## One\n([test](../server/a.test.ts))\n\n## Two\nIt is so.\n';
  expect(namedTestFaults(page, 'sections', exists)).toEqual(['no test is named for "Two"']);
});
