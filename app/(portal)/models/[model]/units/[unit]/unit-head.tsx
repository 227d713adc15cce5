'use client';

import { SquareTerminal, Trash2 } from 'lucide-react';
import { statusOfHealth } from '#app/_lib/health.ts';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Facts, PageHeader } from '#app/_ui/page-header.tsx';
import { StatusBadge } from '#app/_ui/status.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import { DateTime, RelativeTime } from '#app/_ui/time.tsx';
import { MoreMenu } from '../../more-menu.tsx';
import { HookName } from '../hook-name.tsx';
import type { NamedUnit, ShownUnitDetails, UnitMachine } from '../unit-data.ts';
import type { UnitAct } from './unit-acts.ts';

export interface UnitHeadProps {
  name: NamedUnit;
  unit: ShownUnitDetails;
  machine: UnitMachine | undefined;
  onAct(act: UnitAct): void;
}

/** The name, health and versions of a unit, with its actions. */
export function UnitHead({ name, unit, machine, onAct }: UnitHeadProps) {
  const { t } = useTranslation(['services', 'reports']);
  const { health, formula, version, settingsVersion, vm, vmId } = unit;
  const lastSeenAt = machine?.agent.lastSeenAt ?? null;
  return (
    <PageHeader
      title={<span translate="no">{unit.unit}</span>}
      badge={
        health === null ? (
          <StatusBadge size="lg" status="disabled">
            {t('services:stage.removed')}
          </StatusBadge>
        ) : (
          <StatusBadge size="lg" status={statusOfHealth[health]}>
            {t(`reports:health.${health}`)}
          </StatusBadge>
        )
      }
      note={<Note unit={unit} />}
      actions={<Actions name={name} unit={unit} onAct={onAct} />}
    >
      <Facts
        items={[
          {
            label: t('services:unit.fact.formula'),
            value: (
              <TextLink href={`/handlers/${encodeURIComponent(formula)}`} prefetch={false} translate="no">
                {formula} {version}
              </TextLink>
            ),
          },
          {
            label: t('services:unit.fact.settings'),
            value: t('services:settings.version', { version: settingsVersion }),
          },
          ...(lastSeenAt === null
            ? []
            : [{ label: t('services:unit.fact.lastCall'), value: <RelativeTime value={new Date(lastSeenAt)} /> }]),
          {
            label: t('services:unit.fact.machine'),
            value: (
              <TextLink href={`/vms/${vmId}`} prefetch={false} translate="no">
                {vm}
              </TextLink>
            ),
          },
        ]}
      />
    </PageHeader>
  );
}

/** The stage of a unit, and how often a hook has failed. */
function Note({ unit: { stage, failing, removedAt } }: Pick<UnitHeadProps, 'unit'>) {
  const { t } = useTranslation('services');
  if (removedAt !== null) return <DateTime value={new Date(removedAt)} />;
  const [first] = failing;
  if (first === undefined) return t(`stage.${stage}`);
  return (
    <Trans text={t('unit.head.failures', { hook: first.hook, count: first.failures })} tags={{ hook: <HookName /> }} />
  );
}

function Actions({ name, unit, onAct }: Pick<UnitHeadProps, 'name' | 'unit' | 'onAct'>) {
  const { t } = useTranslation('services');
  const may = useReader().can('operator') && unit.removedAt === null;
  return (
    <>
      {may ? (
        <Button onClick={() => onAct({ kind: 'connect' })}>
          <SquareTerminal aria-hidden />
          {t('unit.act.connect')}
        </Button>
      ) : null}
      <MoreMenu model={name.model}>
        {({ MenuItem, MenuSeparator }) =>
          may ? (
            <>
              <MenuSeparator />
              <MenuItem danger onSelect={() => onAct({ kind: 'remove' })}>
                <Trash2 aria-hidden />
                {t(unit.life === 'dying' ? 'act.removeUnitForce' : 'act.removeUnit')}
              </MenuItem>
            </>
          ) : null
        }
      </MoreMenu>
    </>
  );
}
