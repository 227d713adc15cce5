import { z } from 'zod';
import { count } from '#server/domain/answers.ts';

/** The declared state of an extension, as responses show it. */
export const goal = z.enum(['enabled', 'disabled', 'uninstall']);

/** Timeout of each command, in seconds. */
export const timeouts = z.object({ install: count, update: count, enable: count, disable: count, uninstall: count });

export const autoUpgradeMinorVersion = z
  .boolean()
  .describe('Whether the extension gets higher published versions with the same first number automatically.');
