import { z } from 'zod';
import { factorAnswer } from '../factors/input.ts';
import { password, personName } from '../passwords.ts';

export const renameAccountInput = z.strictObject({ name: personName });
export type RenameAccountInput = z.input<typeof renameAccountInput>;

export const confirmInput = z.union([z.strictObject({ password: z.string().max(1_024) }), factorAnswer]);
export type ConfirmInput = z.input<typeof confirmInput>;

export const changePasswordInput = z.strictObject({ currentPassword: z.string().max(1_024), newPassword: password });
export type ChangePasswordInput = z.input<typeof changePasswordInput>;
