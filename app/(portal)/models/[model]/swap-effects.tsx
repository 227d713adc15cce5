'use client';

import { ArrowRight, Lock, Workflow } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import type { ShownSwap } from '../model-data.ts';
import { swapPorts } from './swap-ports.ts';

/** What a swap does to the public ports, and the hooks that follow. */
export function SwapEffects({ plan }: { plan: ShownSwap }) {
  const { t } = useTranslation('models');
  const { opens, closes, leads } = swapPorts(plan);
  const wordsOf = (ports: readonly string[]) => ({ ports: ports.join(', '), count: ports.length });
  return (
    <ul className="grid gap-2.5">
      {opens.length === 0 ? null : (
        <Effect
          icon={<StatusIcon status="warning" className="text-warning-text" />}
          title={t('swap.opens', wordsOf(opens))}
          why={t('swap.opens.why', { count: opens.length })}
        />
      )}
      {closes.length === 0 ? null : (
        <Effect
          icon={<Lock aria-hidden className="size-3.5 text-ink-3" />}
          title={t('swap.closes', wordsOf(closes))}
          why={t('swap.closes.why', { count: closes.length })}
        />
      )}
      {leads.length === 0 ? null : (
        <Effect
          icon={<ArrowRight aria-hidden className="size-3.5 text-ink-3 rtl:-scale-x-100" />}
          title={t('swap.leads', wordsOf(leads))}
          why={t('swap.leads.why')}
        />
      )}
      {plan.hooks.length === 0 ? null : (
        <Effect
          icon={<Workflow aria-hidden className="size-3.5 text-ink-3" />}
          title={t('swap.hooks', { count: plan.hooks.length })}
          why={<HookLines hooks={plan.hooks} />}
        />
      )}
      {opens.length + closes.length + leads.length === 0 ? <li className="text-ink-2">{t('swap.nothing')}</li> : null}
    </ul>
  );
}

/** How many units are shown with their hooks. */
const maxUnits = 8;

/** The hooks that follow a swap, by unit. */
function HookLines({ hooks }: { hooks: ShownSwap['hooks'] }) {
  const { t } = useTranslation('models');
  const more = hooks.length - maxUnits;
  return (
    <>
      {hooks.slice(0, maxUnits).map(({ unit, hooks: own }) => (
        <span key={unit} translate="no" className="mono block wrap-anywhere">
          {unit}: {own.map(({ hook, count }) => (count > 1 ? `${hook} ×${count}` : hook)).join(', ')}
        </span>
      ))}
      {more > 0 ? <span className="block">{t('swap.moreUnits', { count: more })}</span> : null}
    </>
  );
}

function Effect({ icon, title, why }: { icon: ReactNode; title: string; why: ReactNode }) {
  return (
    <li className="flex gap-2.5">
      <span className="mt-[3px] shrink-0">{icon}</span>
      <span className="min-w-0">
        <span className="block font-medium">{title}</span>
        <span className="block text-12 text-ink-2">{why}</span>
      </span>
    </li>
  );
}
