import { z } from 'zod';
import type { StoredWarning } from '#db/schema/packages.ts';
import en from '#locales/en/errors.json' with { type: 'json' };
import type { ErrorCode } from '#server/domain/error.ts';
import { fitWarnings } from '#server/domain/list-bytes.ts';
import type { Language } from './languages.ts';
import { sentence } from './problem.ts';

const isCode = (code: string): code is ErrorCode => Object.hasOwn(en, code);

export const shownWarning = z.object({ code: z.string(), message: z.string(), path: z.string().optional() });
export type ShownWarning = z.infer<typeof shownWarning>;

/** Adds messages to as many warnings as fit into a response. A warning about the whole document has no path. */
export function shownWarnings(warnings: readonly StoredWarning[], language: Language): ShownWarning[] {
  return fitWarnings(warnings).map(({ code, path, params = {} }) => ({
    code,
    message: isCode(code) ? sentence(code, params, language) : code,
    ...(path !== '' && { path }),
  }));
}
