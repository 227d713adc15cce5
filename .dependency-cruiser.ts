import type { IConfiguration } from 'dependency-cruiser';

/**
 * The import law: imports between rooms go in one direction only (ARCHITECTURE.md). `npm run verify` checks it, and
 * scripts/import-law.test.ts plants violations and expects each to be found. Tests, test support and samples may import
 * anything; `production` matches all other files.
 */
const test = String.raw`\.(test|spec)\.tsx?$`;
const support =
  '^(server|server/fabric|server/domain/[^/]+|server/domain/[^/]+/[^/]+|db|agent|protocol/executions)/testing/';
const production = { pathNot: [test, support, '^(scripts|bench|e2e|samples)/'] };
const from = (path: string) => ({ path, ...production });

/** The module with the words of verdicts and their order of severity, which db, pages and inputs may import. */
const words = String.raw`^server/domain/verdicts/words\.ts$`;

/** The pure rules of rollouts, of the topology and of services, which the schema, every module, pages and inputs may import. */
const pureRules = '^server/domain/(rollout|topology|service)-rules/';

/** The module for filter fields in URLs, which pages and entry points may import. */
const fleetAddress = String.raw`^server/domain/fleet/address\.ts$`;

/**
 * The modules of the domain, in order: each may import only those before it. `views` is last: it may import every
 * module, and no module may import it.
 */
const modules = [
  'verdicts',
  'work',
  'rollout-rules',
  'topology-rules',
  'service-rules',
  'audit',
  'changes',
  'publishers',
  'packages',
  'localization',
  'vms',
  'reservations',
  'reported-state',
  'goal-states',
  'enrollment',
  'holds',
  'stock-agents',
  'logs',
  'runbook-files',
  'runbooks',
  'executions',
  'reports',
  'health',
  'retries',
  'fleet',
  'attention',
  'rollouts',
  'vm-lifecycle',
  'topology',
  'services',
  'views',
];

const moduleOrder = modules.slice(0, -1).map((module, index) => ({
  name: `module-order-${module}`,
  comment: `${module} may import only the modules before it: ${modules.join(' → ')}`,
  severity: 'error' as const,
  from: from(`^server/domain/${module}/`),
  to: { path: `^server/domain/(${modules.slice(index + 1).join('|')})/` },
}));

const law: IConfiguration = {
  forbidden: [
    {
      name: 'no-cycle',
      comment: 'Merge modules that need each other, or move what they share into a file of its own.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-unresolvable',
      comment: 'Every import must resolve.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true, pathNot: [String.raw`\.next/`] },
    },
    {
      name: 'no-dev-dependency',
      comment: 'Production code imports only packages listed under "dependencies".',
      severity: 'error',
      from: from('^(protocol|db|server|app|agent)/'),
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'protocol-stands-alone',
      comment: 'The contract between portal and agents imports only zod and itself.',
      severity: 'error',
      from: from('^protocol/'),
      to: { pathNot: ['^protocol/', '^node_modules/(zod|semver)/'] },
    },
    {
      name: 'agent-knows-the-protocol-only',
      comment:
        'The guest agent runs on another machine, so it imports the protocol and packages, but no code of the portal.',
      severity: 'error',
      from: from('^agent/'),
      to: { path: '^(server|db|app|locales)/' },
    },
    {
      name: 'agent-tools-know-no-work',
      comment: 'The guest agent’s tools import neither its work nor its commands.',
      severity: 'error',
      from: from(
        '^agent/(folder|portal|channel|identity|settings|goal|watch|report|handler|execution|update|wire-forward|amp|unit)/',
      ),
      to: { path: String.raw`^agent/(main\.ts|(work|clinic|commands|doctor|install)/)` },
    },
    {
      name: 'amp-knows-no-unit',
      comment: 'The boxes and the server of AMP import no other room of the guest agent.',
      severity: 'error',
      from: from('^agent/amp/'),
      to: { path: '^(agent|protocol)/', pathNot: '^agent/amp/' },
    },
    {
      name: 'unit-tools-are-small',
      comment: 'The commands for hooks start for every call, so they import only AMP and single files of the protocol.',
      severity: 'error',
      from: from('^agent/unit-tools/'),
      to: {
        path: ['^agent/', '^node_modules/', String.raw`^protocol/(executions/)?index\.ts$`],
        pathNot: '^agent/(unit-tools|amp)/',
      },
    },
    {
      name: 'agent-works-without-its-commands',
      comment: 'Commands and the clinic run the guest agent’s work, which imports neither of them.',
      severity: 'error',
      from: from('^agent/work/'),
      to: { path: String.raw`^agent/(main\.ts|(clinic|commands|doctor|install|settings|wire-forward)/)` },
    },
    {
      name: 'agent-lane-knows-no-kind-of-work',
      comment:
        'The lane imports no kind of work. Each kind has a folder, and only agent.ts and plan-agent.ts combine them.',
      severity: 'error',
      from: from(String.raw`^agent/work/(?!(?:plan-)?agent\.ts)[^/]+\.ts$`),
      to: { path: '^agent/work/[^/]+/' },
    },
    {
      name: 'db-imports-no-server',
      comment:
        'The schema may use types of the protocol, the words of verdicts and the pure rules, and no other code of the project.',
      severity: 'error',
      from: from('^db/'),
      to: { path: '^(server|app|agent|locales)/', pathNot: [words, pureRules] },
    },
    {
      name: 'db-takes-types-only',
      comment: 'The schema imports only types, because data is parsed before it is written.',
      severity: 'error',
      from: from('^db/'),
      to: { path: ['^protocol/', words, pureRules], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'platform-has-no-business-words',
      comment: 'Platform contains small tools, which import no module, no door and no table.',
      severity: 'error',
      from: from('^server/platform/'),
      to: { path: '^(app|agent|db|locales|server)/', pathNot: ['^server/platform/'] },
    },
    {
      name: 'domain-knows-no-door',
      comment: 'A verb is the same for every door, so the domain imports no HTTP, tRPC or process code.',
      severity: 'error',
      from: from('^server/domain/'),
      to: { path: '^(app|agent)/|^server/(?!domain/|platform/)' },
    },
    {
      name: 'proxy-knows-no-module',
      comment: 'The proxy of the fabric only listens and connects. The module topology decides what is reachable.',
      severity: 'error',
      from: from('^server/fabric/proxy/'),
      to: { path: '^(server|db|app|agent|protocol)/', pathNot: ['^server/fabric/proxy/', pureRules] },
    },
    {
      name: 'domain-knows-no-transport-library',
      comment: 'A verb is the same for every door, so the domain imports no transport library.',
      severity: 'error',
      from: from('^server/domain/'),
      to: { path: '^node_modules/(next|react|react-dom|hono|@hono|@trpc)/' },
    },
    ...moduleOrder,
    {
      name: 'verdicts-is-a-leaf',
      comment: 'Every module may import the rules of verdicts, which import only zod, the protocol and each other.',
      severity: 'error',
      from: from('^server/domain/verdicts/'),
      to: { pathNot: ['^server/domain/verdicts/', '^protocol/', '^node_modules/zod/'] },
    },
    {
      name: 'verdict-words-import-nothing',
      comment: 'Pages load the words of verdicts, so this file imports nothing.',
      severity: 'error',
      from: from(words),
      to: {},
    },
    {
      name: 'rules-are-pure',
      comment:
        'Pages and workers share the rules of rollouts, of the topology and of services, so these import only zod, the protocol, limits, the words of verdicts and each other.',
      severity: 'error',
      from: from(pureRules),
      to: {
        pathNot: [
          pureRules,
          '^protocol/',
          words,
          String.raw`^server/platform/limits\.ts$`,
          '^node_modules/',
          '^crypto$',
        ],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'fleet-address-imports-types-only',
      comment: 'Pages load this file, so it must bring along no library and no SQL.',
      severity: 'error',
      from: from(fleetAddress),
      to: { dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'no-own-index',
      comment: 'Files of a module import each other directly; index.ts is for other modules.',
      severity: 'error',
      from: { path: '^server/domain/([^/]+)/', pathNot: production.pathNot },
      to: { path: String.raw`^server/domain/$1/index\.ts$` },
    },
    {
      name: 'module-by-its-index',
      comment:
        'Other code imports only index.ts and input.ts of a domain module. Views are exempt, because they are queries.',
      severity: 'error',
      from: { path: '^(?:server/domain/([^/]+)/|server/|app/)', pathNot: production.pathNot },
      to: {
        path: '^server/domain/[^/]+/',
        pathNot: [
          String.raw`^server/domain/[^/]+/(index|input)\.ts$`,
          words,
          pureRules,
          fleetAddress,
          '^server/domain/$1/',
          '^server/domain/views/',
        ],
      },
    },
    {
      name: 'input-is-a-leaf',
      comment:
        'Forms in the browser load input.ts, so it imports only zod, the protocol, limits, the words of verdicts, the pure rules and other inputs.',
      severity: 'error',
      from: from(String.raw`^server/(domain|auth)/[^/]+/input\.ts$`),
      to: {
        pathNot: [
          '^node_modules/zod/',
          '^protocol/',
          String.raw`^server/(platform/limits|auth/passwords)\.ts$`,
          words,
          pureRules,
          String.raw`^server/(domain|auth)/[^/]+/input\.ts$`,
        ],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'app-imports-no-db',
      comment: 'Pages get their data through the portal, never from the database or the agent.',
      severity: 'error',
      from: from('^app/'),
      to: { path: '^(db|agent)/' },
    },
    {
      name: 'app-imports-server-types',
      comment:
        'At run time, pages call the server through tRPC. They share only inputs, fleet/address.ts, the words of verdicts and the pure rules.',
      severity: 'error',
      from: from('^app/'),
      to: {
        path: '^server/',
        pathNot: [String.raw`^server/(domain|auth)/[^/]+/input\.ts$`, words, pureRules, fleetAddress],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'server-imports-no-page',
      comment: 'No other code imports the pages.',
      severity: 'error',
      from: from('^(server|db|protocol|agent)/'),
      to: { path: '^app/' },
    },
    {
      name: 'portal-imports-no-agent',
      comment: 'Portal and agent share only the protocol.',
      severity: 'error',
      from: from('^(server|db|protocol|app)/'),
      to: { path: '^agent/' },
    },
    {
      name: 'product-imports-no-scripts',
      comment: 'Scripts, benchmarks and journeys import the product, never the other way round.',
      severity: 'error',
      from: { pathNot: ['^(scripts|bench|e2e)/', String.raw`^[^/]+\.config\.[cm]?[jt]s$`] },
      to: { path: '^(scripts|bench|e2e)/' },
    },
    {
      name: 'product-imports-no-tests',
      comment: 'Production code imports no tests and no test support.',
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
