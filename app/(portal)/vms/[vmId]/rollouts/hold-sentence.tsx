'use client';

import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { rolloutTag } from './rollout-line.tsx';
import { endOf, type Held, sentenceOf } from './version-holds.ts';

/** What holds back a newer version, as a sentence. */
export function HoldSentence({ held }: { held: Held }) {
  const { t } = useTranslation('memberships');
  if (held === null) return t('version.held.none');
  const { rollout, version, fault, step } = held;
  const state = step === null ? '' : t(`state.${endOf(step.state)}`);
  const values = { name: rollout?.name ?? '', version: version ?? '', code: fault ?? '', state };
  const text = t(`version.held.${sentenceOf(held)}`, values);
  return <Trans text={text} tags={rollout === null ? {} : { rollout: rolloutTag(rollout.id) }} />;
}
