import { z } from 'zod';

export const setSignInRulesInput = z.strictObject({ requireFactor: z.boolean() });
export type SetSignInRulesInput = z.input<typeof setSignInRulesInput>;
