import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { importLawViolations } from './import-law.ts';

let root: string;

beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'annex-law-'));
  plant({
    'package.json': JSON.stringify({ name: 'house', type: 'module', imports: { '#*': './*' } }),
    'protocol/version.ts': `export const version = 1;`,
    'db/schema/index.ts': `import type { version } from '#protocol/version.ts';\nimport type { words } from '#server/domain/verdicts/words.ts';\nexport type Row = typeof version | typeof words;`,
    'server/platform/limits.ts': `export const limits = {};`,
    'server/domain/vms/input.ts': `import { words } from '#server/domain/verdicts/words.ts';\nimport { limits } from '#server/platform/limits.ts';\nexport const input = { limits, words };`,
    'server/domain/verdicts/words.ts': `export const words = ['failed'];`,
    'server/domain/verdicts/rules.ts': `import { words } from './words.ts';\nexport const rules = words;`,
    'server/domain/vms/create-vm.ts': `import type { Row } from '#db/schema/index.ts';\nimport { input } from './input.ts';\nexport const createVm = (row: Row) => ({ row, input });`,
    'server/domain/vms/index.ts': `export { createVm } from './create-vm.ts';`,
    'server/domain/reports/index.ts': `export { createVm } from '#server/domain/vms/index.ts';`,
    'server/trpc/root.ts': `export { createVm } from '#server/domain/reports/index.ts';`,
    'server/testing/context.ts': `export const context = {};`,
    'server/domain/vms/testing/machine.ts': `import { context } from '#server/testing/context.ts';\nimport { createVm } from '../index.ts';\nexport const machine = { context, createVm };`,
    'app/page.tsx': `import type { createVm } from '#server/trpc/root.ts';\nimport { words } from '#server/domain/verdicts/words.ts';\nimport { input } from '#server/domain/vms/input.ts';\nexport const page = (verb: typeof createVm) => <p>{String(verb)}{String(input)}{words}</p>;`,
    'agent/main.ts': `import { version } from '#protocol/version.ts';\nexport const run = version;`,
  });
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

function plant(files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(root, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

/** Returns the broken rules, without duplicates. */
async function broken(): Promise<string[]> {
  const violations = await importLawViolations(root, ['protocol', 'db', 'server', 'app', 'agent']);
  return [...new Set(violations.map((violation) => violation.rule))].sort();
}

test('a correct tree breaks no rule', async () => {
  expect(await broken()).toEqual([]);
});

describe('a planted violation is caught', () => {
  const domainFile = 'server/domain/vms/create-vm.ts';
  test.each([
    ['a page that reads a table', 'app-imports-no-db', 'app/page.tsx', `import '#db/schema/index.ts';`],
    [
      'a page that takes even the type of a table',
      'app-imports-no-db',
      'app/page.tsx',
      `import type { Row } from '#db/schema/index.ts';\nexport type R = Row;`,
    ],
    ['a page that runs a verb', 'app-imports-server-types', 'app/page.tsx', `import '#server/domain/vms/index.ts';`],
    [
      'an earlier module that reads a later one',
      'module-order-vms',
      domainFile,
      `import '#server/domain/reports/index.ts';`,
    ],
    [
      'a report that imports the deletion of VMs',
      'module-order-reports',
      'server/domain/reports/index.ts',
      `import '#server/domain/vm-lifecycle/index.ts';`,
    ],
    [
      'a module that needs its own test support',
      'product-imports-no-tests',
      domainFile,
      `import './testing/machine.ts';`,
    ],
    [
      'a module that reads a screen',
      'module-order-reports',
      'server/domain/reports/index.ts',
      `import '#server/domain/views/list-vms.ts';`,
    ],
    ['a verb that imports its own door', 'no-own-index', 'server/domain/vms/other.ts', `import './index.ts';`],
    ['a verb that knows a door', 'domain-knows-no-door', domainFile, `import '#server/trpc/root.ts';`],
    [
      'a router that reaches behind a module’s door',
      'module-by-its-index',
      'server/trpc/root.ts',
      `import '#server/domain/vms/create-vm.ts';`,
    ],
    [
      'a module that reaches behind another’s door',
      'module-by-its-index',
      'server/domain/reports/index.ts',
      `import '#server/domain/vms/create-vm.ts';`,
    ],
    ['a form input that pulls in a verb', 'input-is-a-leaf', 'server/domain/vms/input.ts', `import './create-vm.ts';`],
    [
      'a proxy that decides what is reachable',
      'proxy-knows-no-module',
      'server/fabric/proxy/port-proxy.ts',
      `import '#server/domain/vms/index.ts';`,
    ],
    [
      'an agent that reads the server',
      'agent-knows-the-protocol-only',
      'agent/main.ts',
      `import '#server/platform/limits.ts';`,
    ],
    [
      'a tool of the agent that knows its work',
      'agent-tools-know-no-work',
      'agent/folder/layout.ts',
      `import '../work/lane.ts';`,
    ],
    [
      'a server of boxes that knows a unit',
      'amp-knows-no-unit',
      'agent/amp/server.ts',
      `import '../unit/unit-error.ts';`,
    ],
    [
      'a command for hooks that needs more of the agent',
      'unit-tools-are-small',
      'agent/unit-tools/main.ts',
      `import '../unit/unit-error.ts';`,
    ],
    [
      'work of the agent that knows a command',
      'agent-works-without-its-commands',
      'agent/work/lane.ts',
      `import '../commands/run.ts';`,
    ],
    [
      'a lane that knows a kind of work',
      'agent-lane-knows-no-kind-of-work',
      'agent/work/lane.ts',
      `import './extensions/runner.ts';`,
    ],
    [
      'a protocol that reads the portal',
      'protocol-stands-alone',
      'protocol/version.ts',
      `import '#server/platform/limits.ts';`,
    ],
    ['a protocol that needs Node', 'protocol-stands-alone', 'protocol/version.ts', `import 'node:fs';`],
    ['a schema that parses', 'db-takes-types-only', 'db/schema/index.ts', `import '#protocol/version.ts';`],
    [
      'a small tool with business words',
      'platform-has-no-business-words',
      'server/platform/limits.ts',
      `import '#server/domain/vms/index.ts';`,
    ],
    ['a server that reads the guest', 'portal-imports-no-agent', 'server/trpc/root.ts', `import '#agent/main.ts';`],
    [
      'production code that needs a script',
      'product-imports-no-scripts',
      'server/trpc/root.ts',
      `import '#scripts/verify.ts';`,
    ],
    [
      'production code that needs a test’s helper',
      'product-imports-no-tests',
      'server/trpc/root.ts',
      `import '#server/testing/context.ts';`,
    ],
    [
      'a rule of verdicts that reads a module',
      'verdicts-is-a-leaf',
      'server/domain/verdicts/rules.ts',
      `import '#server/domain/vms/index.ts';`,
    ],
    [
      'a rule of verdicts that names a table',
      'verdicts-is-a-leaf',
      'server/domain/verdicts/rules.ts',
      `import type { Row } from '#db/schema/index.ts';\nexport type R = Row;`,
    ],
    [
      'words of verdicts with a library',
      'verdict-words-import-nothing',
      'server/domain/verdicts/words.ts',
      `import '#protocol/version.ts';`,
    ],
    [
      'a page that runs the rules of verdicts',
      'app-imports-server-types',
      'app/page.tsx',
      `import '#server/domain/verdicts/rules.ts';`,
    ],
    [
      'a schema that runs the words of verdicts',
      'db-takes-types-only',
      'db/schema/index.ts',
      `import '#server/domain/verdicts/words.ts';`,
    ],
    ['a circle', 'no-cycle', 'protocol/version.ts', `import './other.ts';`],
    ['an import of nothing', 'no-unresolvable', 'server/trpc/root.ts', `import '#server/trpc/gone.ts';`],
    [
      'a dynamic import',
      'domain-knows-no-door',
      domainFile,
      `export const late = () => import('#server/trpc/root.ts');`,
    ],
  ])('%s: %s', async (_, rule, file, text) => {
    plant({
      'protocol/other.ts': `import './version.ts';`,
      'server/domain/views/list-vms.ts': '',
      'server/domain/vm-lifecycle/index.ts': '',
      'server/testing/context.ts': '',
      'scripts/verify.ts': '',
      'agent/unit/unit-error.ts': '',
      'agent/work/lane.ts': '',
      'agent/work/extensions/runner.ts': '',
      'agent/commands/run.ts': '',
      [file]: text,
    });
    expect(await broken()).toContain(rule);
  });

  test('the same import is allowed in a test', async () => {
    plant({ 'server/domain/vms/create-vm.test.ts': `import '#server/domain/reports/index.ts';` });
    expect(await broken()).toEqual([]);
  });
});
