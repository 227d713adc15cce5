import { z } from 'zod';

/** Bounds of a password, in characters. Length is what protects; no rules about kinds of characters. */
export const passwordLength = { minimum: 12, maximum: 128 } as const;

export const password = z.string().min(passwordLength.minimum).max(passwordLength.maximum);

/** Stored and compared in lower case. */
export const email = z.string().max(254).trim().toLowerCase().pipe(z.email());

export const personName = z.string().trim().min(1).max(100);
