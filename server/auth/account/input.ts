import { z } from 'zod';
import { canonicalLanguage } from '#protocol/index.ts';
import { factorAnswer } from '../factors/input.ts';
import { password, personName } from '../passwords.ts';

export const renameAccountInput = z.strictObject({ name: personName });
export type RenameAccountInput = z.input<typeof renameAccountInput>;

export const confirmInput = z.union([z.strictObject({ password: z.string().max(1_024) }), factorAnswer]);
export type ConfirmInput = z.input<typeof confirmInput>;

export const changePasswordInput = z.strictObject({ currentPassword: z.string().max(1_024), newPassword: password });
export type ChangePasswordInput = z.input<typeof changePasswordInput>;

/** A language tag, stored in its canonical form; null for the browser's language. */
export const setLanguageInput = z.strictObject({
  language: z.string().max(100).transform(canonicalLanguage).pipe(z.string()).nullable(),
});
export type SetLanguageInput = z.input<typeof setLanguageInput>;
