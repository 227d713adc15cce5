import { z } from 'zod';
import type { VersionState } from '#db/schema/index.ts';

export const versionState = z.enum(['draft', 'published', 'withdrawn'] satisfies VersionState[]);
