import { z } from 'zod';
import { count } from '#server/domain/answers.ts';

/** The declared state of an extension, as responses show it. */
export const goal = z.enum(['enabled', 'disabled', 'uninstall']);

/** Timeout of each command, in seconds. */
export const timeouts = z.object({ install: count, update: count, enable: count, disable: count, uninstall: count });

export const autoUpgradeMinorVersion = z
  .boolean()
  .describe('Stored and returned only: Annex does not upgrade versions automatically yet.');
