import { globSync } from 'node:fs';
import path from 'node:path';

const app = path.resolve(import.meta.dirname, '../../app');

/**
 * Returns the URLs of all pages, with `[parts]` filled in. With `rollout`, the pages of rollouts get it as their id.
 * Throws if `parts` lacks a value.
 */
export function pageAddresses(parts: Record<string, string>): string[] {
  return globSync('**/page.tsx', { cwd: app })
    .map((file) => path.dirname(file).split(path.sep))
    .filter((segments) => !segments.some((segment) => segment.startsWith('_')))
    .map((segments) =>
      segments
        .filter((segment) => segment !== '.' && !segment.startsWith('('))
        .map((segment) => {
          const name = /^\[(\w+)\]$/.exec(segment)?.[1];
          if (name === undefined) return segment;
          const isOfRollout = segments.includes('rollouts') && name === 'id';
          const value = (isOfRollout ? parts.rollout : undefined) ?? parts[name];
          if (value === undefined) throw new Error(`No value is known for [${name}] in the address of a page.`);
          return encodeURIComponent(value);
        })
        .join('/'),
    )
    .map((address) => `/${address}`)
    .sort();
}
