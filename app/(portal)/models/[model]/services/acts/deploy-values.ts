import { maxServiceNameLength } from '#protocol/unit-names.ts';
import type { ShownService } from '../service-data.ts';

/** Returns a name for a service of this formula that the model does not have yet, such as `blog` or `blog-b`. */
export function nameFor(formula: string, services: readonly Pick<ShownService, 'name'>[]): string {
  const last = formula.split('.').at(-1) ?? '';
  const base = last
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^[^a-z]+|-+$/g, '')
    .slice(0, maxServiceNameLength - 2);
  if (base === '') return '';
  const taken = new Set(services.map(({ name }) => name));
  // A part after a hyphen must have a letter, so the names continue with letters.
  const names = [base, ...'bcdefghijklmnopqrstuvwxyz'].map((part, index) => (index === 0 ? part : `${base}-${part}`));
  return names.find((name) => !taken.has(name)) ?? '';
}
