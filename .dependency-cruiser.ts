import type { IConfiguration } from 'dependency-cruiser';

/**
 * The import law: arrows between rooms go down only (ARCHITECTURE.md). Kept by `npm run verify`;
 * scripts/import-law.test.ts plants violations and sees each of them caught.
 *
 * Tests, test support and samples may look anywhere: `production` is everything else.
 */
const test = String.raw`\.(test|spec)\.tsx?$`;
const support = '^(server|server/domain/[^/]+|db|agent)/testing/';
const production = { pathNot: [test, support, '^(scripts|bench|e2e|samples)/'] };
const from = (path: string) => ({ path, ...production });

/** The words of verdicts and the order of severity: db, pages and inputs share them. */
const words = String.raw`^server/domain/verdicts/words\.ts$`;

/** Filter fields as parameters of an address: pages and doors share it. */
const fleetAddress = String.raw`^server/domain/fleet/address\.ts$`;

/** Left never imports right. Views come last: they read every module and no module reads them. */
const modules = [
  'verdicts',
  'work',
  'audit',
  'changes',
  'publishers',
  'packages',
  'localization',
  'vms',
  'reported-state',
  'goal-states',
  'enrollment',
  'holds',
  'stock-agents',
  'logs',
  'reports',
  'health',
  'fleet',
  'vm-lifecycle',
  'views',
];

const moduleOrder = modules.slice(0, -1).map((module, index) => ({
  name: `module-order-${module}`,
  comment: `${module} knows only the modules before it: ${modules.join(' → ')}`,
  severity: 'error' as const,
  from: from(`^server/domain/${module}/`),
  to: { path: `^server/domain/(${modules.slice(index + 1).join('|')})/` },
}));

const law: IConfiguration = {
  forbidden: [
    {
      name: 'no-circle',
      comment: 'Modules that need each other are one module, or the shared part wants a file of its own.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-unresolvable',
      comment: 'What is imported must be there.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true, pathNot: [String.raw`\.next/`] },
    },
    {
      name: 'no-dev-dependency',
      comment: 'What runs in production comes from "dependencies".',
      severity: 'error',
      from: from('^(protocol|db|server|app|agent)/'),
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'protocol-stands-alone',
      comment: 'The contract between portal and guests imports zod and itself.',
      severity: 'error',
      from: from('^protocol/'),
      to: { pathNot: ['^protocol/', '^node_modules/zod/'] },
    },
    {
      name: 'agent-knows-the-protocol-only',
      comment: 'The guest agent runs on another machine: protocol and packages, nothing of the portal.',
      severity: 'error',
      from: from('^agent/'),
      to: { path: '^(server|db|app|locales)/' },
    },
    {
      name: 'agent-tools-know-no-work',
      comment: 'Tools of the guest agent know neither its work nor its commands.',
      severity: 'error',
      from: from('^agent/(folder|portal|identity|settings|goal|watch|report|handler|wire-forward)/'),
      to: { path: String.raw`^agent/(main\.ts|(work|clinic|commands|doctor|install)/)` },
    },
    {
      name: 'agent-works-without-its-commands',
      comment: 'Commands and the clinic run the work of the guest agent; it knows neither.',
      severity: 'error',
      from: from('^agent/work/'),
      to: { path: String.raw`^agent/(main\.ts|(clinic|commands|doctor|install|settings|wire-forward)/)` },
    },
    {
      name: 'agent-lane-knows-no-kind-of-work',
      comment: 'Every kind of work runs in the lane and has a folder of its own; agent.ts puts them together.',
      severity: 'error',
      from: from(String.raw`^agent/work/(?!agent\.ts)[^/]+\.ts$`),
      to: { path: '^agent/work/[^/]+/' },
    },
    {
      name: 'db-is-the-cellar',
      comment: 'The schema may name types of the protocol and the words of verdicts, nothing else of the house.',
      severity: 'error',
      from: from('^db/'),
      to: { path: '^(server|app|agent|locales)/', pathNot: [words] },
    },
    {
      name: 'db-takes-types-only',
      comment: 'The schema may name types; parsing is done before anything is written.',
      severity: 'error',
      from: from('^db/'),
      to: { path: ['^protocol/', words], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'platform-has-no-business-words',
      comment: 'Platform holds small tools; they know no module, no door and no table.',
      severity: 'error',
      from: from('^server/platform/'),
      to: { path: '^(app|agent|db|locales|server)/', pathNot: ['^server/platform/'] },
    },
    {
      name: 'domain-knows-no-door',
      comment: 'A verb is the same for every door: no HTTP, no tRPC, no process in the domain.',
      severity: 'error',
      from: from('^server/domain/'),
      to: { path: '^(app|agent)/|^server/(?!domain/|platform/)' },
    },
    {
      name: 'domain-knows-no-transport-library',
      comment: 'A verb is the same for every door.',
      severity: 'error',
      from: from('^server/domain/'),
      to: { path: '^node_modules/(next|react|react-dom|hono|@hono|@trpc)/' },
    },
    ...moduleOrder,
    {
      name: 'verdicts-is-a-leaf',
      comment: 'Everybody imports the rules of verdicts: they import zod, the protocol and each other.',
      severity: 'error',
      from: from('^server/domain/verdicts/'),
      to: { pathNot: ['^server/domain/verdicts/', '^protocol/', '^node_modules/zod/'] },
    },
    {
      name: 'verdict-words-import-nothing',
      comment: 'Pages load the words of verdicts: no library comes with them.',
      severity: 'error',
      from: from(words),
      to: {},
    },
    {
      name: 'fleet-address-imports-types-only',
      comment: 'Pages load it: no library and no statement comes with it.',
      severity: 'error',
      from: from(fleetAddress),
      to: { dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'no-own-door',
      comment: 'Inside a module, files import each other; its index.ts is for the others.',
      severity: 'error',
      from: { path: '^server/domain/([^/]+)/', pathNot: production.pathNot },
      to: { path: String.raw`^server/domain/$1/index\.ts$` },
    },
    {
      name: 'module-by-its-door',
      comment:
        'From outside, a domain module is its index.ts, and its input.ts for what goes in. Views are queries, not a module.',
      severity: 'error',
      from: { path: '^(?:server/domain/([^/]+)/|server/|app/)', pathNot: production.pathNot },
      to: {
        path: '^server/domain/[^/]+/',
        pathNot: [
          String.raw`^server/domain/[^/]+/(index|input)\.ts$`,
          words,
          fleetAddress,
          '^server/domain/$1/',
          '^server/domain/views/',
        ],
      },
    },
    {
      name: 'input-is-a-leaf',
      comment:
        'Forms in the browser import input.ts: it may reach zod, the protocol, limits, the words of verdicts and other inputs.',
      severity: 'error',
      from: from(String.raw`^server/(domain|auth)/[^/]+/input\.ts$`),
      to: {
        pathNot: [
          '^node_modules/zod/',
          '^protocol/',
          String.raw`^server/(platform/limits|auth/passwords)\.ts$`,
          words,
          String.raw`^server/(domain|auth)/[^/]+/input\.ts$`,
        ],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'app-never-the-cellar',
      comment: 'Pages ask the portal, which asks the domain.',
      severity: 'error',
      from: from('^app/'),
      to: { path: '^(db|agent)/' },
    },
    {
      name: 'app-takes-types-of-the-server',
      comment: 'At run time pages reach the server through tRPC; inputs and the words of verdicts are shared.',
      severity: 'error',
      from: from('^app/'),
      to: {
        path: '^server/',
        pathNot: [String.raw`^server/(domain|auth)/[^/]+/input\.ts$`, words, fleetAddress],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'server-never-the-front',
      comment: 'The works do not know the pages.',
      severity: 'error',
      from: from('^(server|db|protocol|agent)/'),
      to: { path: '^app/' },
    },
    {
      name: 'server-never-the-guest',
      comment: 'Portal and agent meet in the protocol.',
      severity: 'error',
      from: from('^(server|db|protocol|app)/'),
      to: { path: '^agent/' },
    },
    {
      name: 'nothing-needs-the-workshop',
      comment: 'Scripts, bench and journeys use the house; the house does not know them.',
      severity: 'error',
      from: { pathNot: ['^(scripts|bench|e2e)/', String.raw`^[^/]+\.config\.[cm]?[jt]s$`] },
      to: { path: '^(scripts|bench|e2e)/' },
    },
    {
      name: 'nothing-needs-a-test',
      comment: 'Test files and test support are never part of what runs.',
      severity: 'error',
      from: { pathNot: [test, support, '^(e2e|bench|scripts/test)', String.raw`^vitest\.config\.ts$`] },
      to: { path: [test, support] },
    },
  ],
  options: {
    doNotFollow: { path: '^node_modules/' },
    exclude: { path: String.raw`^\.next/|^\.data/` },
    // TypeScript 7 has no JavaScript API to parse with.
    parser: 'swc',
    tsPreCompilationDeps: true,
    combinedDependencies: false,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.tsx', '.mjs', '.js', '.json', '.css'],
      mainFields: ['module', 'main', 'types', 'typings'],
    },
  },
};

export default law;
