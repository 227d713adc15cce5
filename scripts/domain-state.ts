import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

/**
 * What a domain file must not contain. `setImmediate` is allowed, because it lets other work run during a long loop.
 * Sources are formatted, so a line without indentation is at module level.
 */
const rules: readonly { pattern: RegExp; fault: string }[] = [
  { pattern: /\b(?:setTimeout|setInterval)\b/, fault: 'a timer' },
  { pattern: /from '(?:lru-cache|p-limit)'/, fault: 'a cache or a queue' },
  { pattern: /^(?:export )?(?:let|var) /, fault: 'a variable of the module' },
  {
    pattern: /^(?:export )?const \w+(?:: [^=]+)? = (?:new (?:Map|Set|WeakMap|WeakSet|WeakRef)(?:<.*>)?\(\)|\[\]|\{\})/,
    fault: 'a mutable collection of the module',
  },
  { pattern: /^\s+static (?!readonly \w+ = ['"\d])(?:readonly )?#?\w+(?:: [^=]+)? = /, fault: 'a static field' },
];

/**
 * Returns the faults in a domain file by line. Queues, timers and caches belong to the process that runs the domain;
 * domain files declare slots of `ProcessMemory` or take parameters.
 */
export function domainStateFaults(text: string): string[] {
  return text
    .split('\n')
    .flatMap((line, index) =>
      rules
        .filter(({ pattern }) => pattern.test(line))
        .map(
          ({ fault }) =>
            `${index + 1}: ${fault}. State belongs to the process: declare a slot (server/platform/process-memory.ts)`,
        ),
    );
}

/** Returns the faults in all domain files below this root, as `path:line: fault`. */
export function domainFaults(root: string): string[] {
  return globSync('server/domain/**/*.ts', { cwd: root })
    .filter((file) => !file.endsWith('.test.ts'))
    .sort()
    .flatMap((file) =>
      domainStateFaults(readFileSync(path.join(root, file), 'utf8')).map((fault) => `${file}:${fault}`),
    );
}
