'use client';

import { Minus } from 'lucide-react';
import { useId } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { Switch } from '#app/_ui/switch.tsx';
import type { ShownPlan } from './document-data.ts';
import type { DocumentDraft } from './use-document.ts';

export interface LeftOutProps {
  plan: ShownPlan;
  draft: DocumentDraft;
}

/** What the document leaves out: it stays, unless the operator decides to remove it. */
export function LeftOut({ plan: { left, prune }, draft }: LeftOutProps) {
  const { t } = useTranslation('services');
  const format = useFormat();
  const id = useId();
  const units = [...left.services.flatMap((service) => service.units), ...left.units];
  const relations = [...left.services.flatMap((service) => service.relations), ...left.relations];
  const named = new Set(relations.map(({ endpoints }) => endpoints.join(' – ')));
  const lists = [
    { name: t('document.left.services'), all: left.services.map(({ service }) => service) },
    { name: t('document.left.units'), all: units },
    { name: t('document.left.relations'), all: [...named] },
    { name: t('document.left.machines'), all: left.machines.map((machine) => format.number(machine)) },
  ].filter(({ all }) => all.length > 0);
  return (
    <section
      aria-labelledby={`${id}-title`}
      className="grid grid-cols-[1.5rem_minmax(0,1fr)] gap-x-2 border-t border-line-subtle px-4 py-3"
    >
      <Minus aria-hidden className="mt-1 size-3.5 text-ink-3" />
      <div className="grid min-w-0 gap-2">
        <h3 id={`${id}-title`} className="font-medium">
          {t(prune ? 'document.left.removed' : 'document.left.stays')}
        </h3>
        <dl className="grid gap-1 text-12">
          {lists.map(({ name, all }) => (
            <div key={name} className="flex min-w-0 flex-wrap gap-x-2">
              <dt className="text-ink-3">{name}</dt>
              <dd translate="no" className="mono min-w-0 wrap-anywhere">
                {all.join(', ')}
              </dd>
            </div>
          ))}
        </dl>
        <label htmlFor={id} className="flex items-center gap-2">
          <Switch id={id} checked={draft.prune} onCheckedChange={draft.setPrune} />
          {t('document.left.prune')}
        </label>
        <p className="text-12 text-ink-3">{t(prune ? 'document.left.how' : 'document.left.why')}</p>
      </div>
    </section>
  );
}
