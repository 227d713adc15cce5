import { z } from 'zod';
import type { AnyManifest } from '#protocol/formula.ts';
import { count, time } from '#server/domain/answers.ts';
import { plan } from '#server/domain/goal-states/index.ts';
import { describedLanguage, publishedVersion, storedLanguage, xliffImport } from '#server/domain/localization/index.ts';
import { describedVersion, registeredPackage } from '#server/domain/packages/index.ts';
import { extensionInstance, instanceView } from '#server/domain/views/index.ts';
import { shownWarning, translatedFault } from '#server/i18n/index.ts';

/** Response schemas of this entry point. It adds messages to the verbs' warnings and faults. */
const warnings = z.array(shownWarning);
const faults = z.array(translatedFault);

/** The manifest in answers about handlers. Answers about formulas have `formulaManifest` in its place. */
export const shownHandlerManifest = z.object({
  version: z.number(),
  handlerManifest: z.record(z.string(), z.unknown()),
}) as unknown as z.ZodType<AnyManifest>;
const manifest = shownHandlerManifest;

export const shownPackage = registeredPackage.omit({ created: true }).extend({ manifest, warnings });
export const shownPublishedVersion = publishedVersion.extend({ manifest, warnings });
export const shownVersion = describedVersion.extend({ manifest, warnings });

export const shownLanguage = describedLanguage.extend({ warnings });
export const shownStoredLanguage = storedLanguage.extend({ warnings });
export const shownXliffImport = xliffImport.extend({ findings: warnings });

export const shownPlan = plan.extend({ warnings: faults, faults });

const refusedFile = z.object({ sequenceNumber: count.nullable(), readAt: time, faults }).nullable();

export const shownInstanceView = instanceView.omit({ languages: true }).extend({
  extensions: z.array(extensionInstance.extend({ refusedStatus: refusedFile, refusedHeartbeat: refusedFile })),
});
