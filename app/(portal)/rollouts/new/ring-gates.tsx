'use client';

import { SlidersHorizontal } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import type { SentGates, SentRing } from './definition.ts';
import type { GateSentencesProps } from './gate-sentences-props.ts';
import { Gates, sentencesGrid } from './gates.tsx';
import { ownGates, withOwnGates } from './own-gates.ts';

/** The limits and gates of rings that differ from the rest, and buttons that give a ring its own. */
export function RingGates({ form, set, faults, onlyLower = false }: GateSentencesProps) {
  const { t } = useTranslation('rollouts');
  const { rings, gates } = form;
  const put = (index: number, own: SentRing['gates'] | undefined) => set({ rings: withOwnGates(rings, index, own) });
  const shared = rings.flatMap(({ name, gates: own }, index) => (own === undefined ? [{ name, index }] : []));
  return (
    <>
      {rings.map((ring, index) => {
        const own = ownGates(ring, gates);
        return own === null ? null : (
          <fieldset
            // biome-ignore lint/suspicious/noArrayIndexKey: rings have no id, and their names can repeat
            key={index}
            className="mt-4 border-t border-line-subtle pt-3"
          >
            <legend className="sr-only">{t('new.gates.ring', { ring: ring.name })}</legend>
            <div className="mb-2 flex flex-wrap items-center gap-x-3 gap-y-1">
              <p aria-hidden className="min-w-0 text-13 font-semibold wrap-anywhere">
                {t('new.gates.ring', { ring: ring.name })}
              </p>
              {onlyLower ? null : (
                <Button size="sm" variant="ghost" onClick={() => put(index, undefined)}>
                  {t('new.gates.same')}
                </Button>
              )}
            </div>
            <div className={sentencesGrid}>
              <Gates
                gates={own}
                put={(change: Partial<SentGates>) => put(index, { ...own, ...change })}
                path={`/rings/${index}/gates`}
                faults={faults}
                isRun={form.change.kind === 'run'}
                onlyLower={onlyLower}
              />
            </div>
          </fieldset>
        );
      })}
      {rings.length < 2 || shared.length === 0 ? null : (
        // biome-ignore lint/a11y/useSemanticElements: the buttons of a fieldset cannot wrap beside its legend
        <div role="group" aria-label={t('new.gates.perRing')} className="mt-3 flex flex-wrap items-center gap-1.5">
          <span className="me-1 inline-flex items-center gap-1.5 text-12 text-ink-3">
            <SlidersHorizontal aria-hidden className="size-3.5" />
            {t('new.gates.perRing')}
          </span>
          {shared.map(({ name, index }) => (
            <Button
              key={index}
              size="sm"
              aria-label={t('new.gates.set', { ring: name })}
              onClick={() => put(index, { ...gates })}
            >
              <span translate="no">{name}</span>
            </Button>
          ))}
        </div>
      )}
    </>
  );
}
