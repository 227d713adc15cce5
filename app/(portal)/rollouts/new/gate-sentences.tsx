'use client';

import { Undo2 } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Select } from '#app/_ui/select.tsx';
import type { SentGates } from './definition.ts';
import { Sentence } from './gate-sentence.tsx';
import type { GateSentencesProps } from './gate-sentences-props.ts';
import { Gates, sentencesGrid } from './gates.tsx';
import { RingGates } from './ring-gates.tsx';

/** The limits and gates of every ring, as sentences with numbers that can be changed, and those of single rings. */
export function GateSentences({ form, set, faults, onlyLower = false }: GateSentencesProps) {
  const { t } = useTranslation('rollouts');
  const isRun = form.change.kind === 'run';
  const put = (change: Partial<SentGates>) => set({ gates: { ...form.gates, ...change } });
  return (
    <div>
      <h3 className="mb-2 text-13 font-semibold">{t('new.gates')}</h3>
      <div className={sentencesGrid}>
        <Gates gates={form.gates} put={put} path="/gates" faults={faults} isRun={isRun} onlyLower={onlyLower} />
        {isRun ? null : (
          <fieldset disabled={onlyLower} className="min-w-0">
            <OnHalt form={form} set={set} />
          </fieldset>
        )}
      </div>
      <RingGates form={form} set={set} faults={faults} onlyLower={onlyLower} />
    </div>
  );
}

function OnHalt({ form, set }: Pick<GateSentencesProps, 'form' | 'set'>) {
  const { t } = useTranslation('rollouts');
  return (
    <Sentence icon={<Undo2 aria-hidden />} title={t('new.onHalt')}>
      <span className="mt-1 flex flex-wrap gap-2">
        <Select
          aria-label={t('new.onHalt')}
          className="w-auto"
          value={form.onHalt}
          onChange={({ target }) => set({ onHalt: target.value === 'revert' ? 'revert' : 'pause' })}
          options={(['pause', 'revert'] as const).map((value) => ({ value, label: t(`new.onHalt.${value}`) }))}
        />
        <Select
          aria-label={t('new.onFailure')}
          className="w-auto"
          value={form.onStepFailure}
          onChange={({ target }) => set({ onStepFailure: target.value === 'revert' ? 'revert' : 'leave' })}
          options={(['leave', 'revert'] as const).map((value) => ({ value, label: t(`new.onFailure.${value}`) }))}
        />
      </span>
    </Sentence>
  );
}
