import { existsSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import law from '../.dependency-cruiser.ts';

/** A forbidden import: the rule, the importing file and the imported file. Paths are relative to the root. */
export interface Violation {
  rule: string;
  from: string;
  to: string;
  comment: string;
}

const rooms = ['protocol', 'db', 'server', 'app', 'agent', 'scripts', 'e2e', 'bench', 'samples'];

/** Checks every import below `root` against `.dependency-cruiser.ts`. */
export async function importLawViolations(root: string, roomsToRead: readonly string[] = rooms): Promise<Violation[]> {
  const { options, ...ruleSet } = law;
  const { enhancedResolveOptions, ...cruiseOptions } = options ?? {};
  const standing = roomsToRead.filter((room) => existsSync(path.join(root, room)));
  const { output } = await cruise(standing, {
    ...cruiseOptions,
    enhancedResolveOptions,
    baseDir: root,
    ruleSet,
    validate: true,
  });
  const { summary } = output as ICruiseResult;
  const comments = new Map(ruleSet.forbidden?.map((rule) => [rule.name, rule.comment ?? '']));
  return summary.violations.map(({ rule, from, to, cycle }) => ({
    rule: rule.name,
    from,
    to: cycle ? cycle.map((step) => step.name).join(' → ') : to,
    comment: comments.get(rule.name) ?? '',
  }));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const violations = await importLawViolations(path.resolve(import.meta.dirname, '..'));
  for (const { rule, from, to, comment } of violations) {
    console.log(`${from} → ${to}\n    ${rule}: ${comment}`);
  }
  const circles = violations.filter(({ rule }) => rule === 'no-cycle').length;
  console.log(`figures: ${circles} circles`);
  process.exitCode = violations.length > 0 ? 1 : 0;
}
