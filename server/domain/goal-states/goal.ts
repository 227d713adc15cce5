import { z } from 'zod';
import { count } from '#server/domain/answers.ts';

/** What is declared of an extension, as every answer shows it. */
export const goal = z.enum(['enabled', 'disabled', 'uninstall']);

/** Seconds after which each command is ended. */
export const timeouts = z.object({ install: count, update: count, enable: count, disable: count, uninstall: count });

export const autoUpgradeMinorVersion = z
  .boolean()
  .describe('Stored and returned only: Annex does not upgrade versions automatically yet.');
