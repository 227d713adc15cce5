'use client';

import Link from 'next/link';
import type { ReactNode } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { cn } from '#app/_ui/cn.ts';
import { useFormat } from '#app/_ui/format.ts';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { Elapsed } from '#app/_ui/time.tsx';
import { healthOfNeed, type ModelNeed, placeHref, type ShownModel } from '../model-data.ts';
import { statusOfNeed, useNeed } from '../model-needs.tsx';
import { Destruction } from './destruction.tsx';
import type { ModelAct } from './model-acts.ts';

export interface NeedsCardProps {
  model: ShownModel;
  needs: readonly ModelNeed[];
  onAct(act: ModelAct): void;
}

/** What needs attention in a model, each with the next act. Absent if nothing does. */
export function NeedsCard({ model, needs, onAct }: NeedsCardProps) {
  const { t } = useTranslation('models');
  const format = useFormat();
  if (needs.length === 0) return null;
  return (
    <Card className="mb-4" aria-labelledby="needs">
      <CardHeader
        id="needs"
        title={t('needs.title')}
        note={needs.length === 1 ? undefined : format.number(needs.length)}
      />
      <ul>
        <NeedLines model={model} needs={needs} onAct={onAct} />
      </ul>
    </Card>
  );
}

/** The lines of a list of what needs attention. */
export function NeedLines({ model, needs, onAct }: NeedsCardProps) {
  return needs.map((need) => (
    <Need key={need.kind === 'health' ? need.health : need.kind} need={need} model={model} onAct={onAct} />
  ));
}

interface NeedProps {
  need: ModelNeed;
  model: ShownModel;
  onAct(act: ModelAct): void;
}

function Need({ need, model, onAct }: NeedProps) {
  const { t } = useTranslation('models');
  const say = useNeed();
  const may = useReader().can('operator');
  const { name } = model;
  if (need.kind === 'bootstrap') {
    return (
      <Line
        need={need}
        title={say(need)}
        why={t(
          !may
            ? 'needs.bootstrap.viewer'
            : model.availabilitySetsEnabled
              ? 'needs.bootstrap.sets'
              : 'needs.bootstrap.why',
        )}
        act={may ? <Button onClick={() => onAct({ kind: 'bootstrap' })}>{t('act.bootstrap')}</Button> : null}
      />
    );
  }
  if (need.kind === 'destroying') {
    const { destroyingSince } = model;
    return (
      <Line
        need={need}
        title={
          <>
            {say(need)}
            {destroyingSince === null ? null : (
              <span className="font-normal text-ink-3">
                {' '}
                · <Elapsed value={new Date(destroyingSince)} use="since" />
              </span>
            )}
          </>
        }
        why={<Destruction model={model} />}
        act={
          may && model.machines > 0 ? (
            <Button onClick={() => onAct({ kind: 'destroy' })}>{t('act.destroyForce')}</Button>
          ) : null
        }
      />
    );
  }
  const health = healthOfNeed(need);
  return (
    <Line
      need={need}
      title={say(need)}
      why={t(may || need.kind === 'health' ? `needs.${health}.why` : 'needs.unknown.viewer', { count: need.count })}
      act={
        <Button asChild>
          <Link href={placeHref({ model: name }, { health: [health] })} prefetch={false} data-count={need.count}>
            {t('needs.show', { count: need.count })}
          </Link>
        </Button>
      }
    />
  );
}

interface LineProps {
  need: ModelNeed;
  title: ReactNode;
  why: ReactNode;
  act: ReactNode;
}

function Line({ need, title, why, act }: LineProps) {
  const status = statusOfNeed(need);
  return (
    <li
      data-st={status}
      className="flex flex-wrap items-start sm:items-center gap-x-3 gap-y-2 border-t border-line-subtle px-4 py-2.5 max-sm:[&>a]:w-full max-sm:[&>button]:w-full"
    >
      <div className="flex min-w-0 flex-[1_1_16rem] gap-2">
        <StatusIcon status={status} className="mt-[3px] shrink-0 text-st-text" />
        <div className="min-w-0">
          <p className={cn('font-medium', need.kind === 'health' && 'text-st-text')}>{title}</p>
          <div className="text-12 text-pretty text-ink-2">{why}</div>
        </div>
      </div>
      {act}
    </li>
  );
}
