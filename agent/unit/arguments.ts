import type { Box } from '../amp/box.ts';
import { unitError } from './unit-error.ts';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Returns an argument of a command; empty if it is absent. Throws BadValue if it is not UTF-8. */
export function argumentOf(box: Box, name: string): string {
  try {
    return decoder.decode(box.get(name));
  } catch {
    throw unitError('BadValue', `${name} is not UTF-8.`);
  }
}

/** Returns an argument that a command needs. Throws BadValue if it is absent. */
export function requiredArgument(box: Box, name: string): string {
  if (!box.has(name)) throw unitError('BadValue', `${name} is missing.`);
  return argumentOf(box, name);
}
