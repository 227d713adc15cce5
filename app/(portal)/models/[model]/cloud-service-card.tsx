'use client';

import { ArrowUpDown, Globe, Layers, Shield, ShieldCheck } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card } from '#app/_ui/card.tsx';
import { CopyButton } from '#app/_ui/copy.tsx';
import { Status } from '#app/_ui/status.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import { rolesInSet } from '#server/domain/topology-rules/deployments.ts';
import { slots } from '#server/domain/topology-rules/words.ts';
import {
  placeHref,
  type ShownCloudService,
  type ShownDeployment,
  type ShownMachine,
  type ShownTopology,
} from '../model-data.ts';
import type { ModelAct } from './model-acts.ts';
import { linesOf } from './role-lines.ts';
import { RoleTable } from './role-table.tsx';
import { SetsLine } from './sets-line.tsx';

export interface CloudServiceCardProps {
  service: ShownCloudService;
  machines: readonly ShownMachine[];
  /** Whether public addresses are served. */
  proxy: ShownTopology['proxy'];
  onAct(act: ModelAct): void;
}

/** A cloud service: its address, and the roles in each of its slots. */
export function CloudServiceCard({ service, machines, proxy, onAct }: CloudServiceCardProps) {
  const { t } = useTranslation('models');
  const lines = linesOf([service], machines);
  const filled = slots.flatMap((slot) => service.deployments.find((one) => one.slot === slot) ?? []);
  return (
    <Card
      aria-labelledby={service.name}
      className="grid grid-cols-[264px_minmax(0,1fr)] max-lg:grid-cols-[minmax(0,1fr)]"
    >
      <ServiceFacts service={service} onAct={onAct} />
      <div className="min-w-0 border-s border-line-subtle max-lg:border-s-0 max-lg:border-t">
        {filled.map((deployment) => (
          <Slot
            key={deployment.name}
            service={service}
            deployment={deployment}
            proxy={proxy}
            isOnly={filled.length === 1}
            lines={lines.filter((line) => line.deployment.name === deployment.name)}
            onAct={onAct}
          />
        ))}
        {filled.length === 0 ? <p className="px-4 py-3 text-ink-3">{t('slot.noDeployment')}</p> : null}
      </div>
    </Card>
  );
}

function ServiceFacts({ service, onAct }: Pick<CloudServiceCardProps, 'service' | 'onAct'>) {
  const { t } = useTranslation('models');
  const may = useReader().can('operator');
  const { name, dnsName, publicAddress, state, label, deployments } = service;
  const domain = dnsName?.startsWith(name) === true ? dnsName.slice(name.length) : null;
  return (
    <div className="grid content-start gap-2 p-4">
      <div className="flex items-center gap-2">
        <h3 id={service.name} className="min-w-0 flex-1 text-13 font-semibold">
          {t(label === 'controller' ? 'service.controllers' : 'service.title')}
        </h3>
        {may && state === 'ready' && deployments.length > 0 ? (
          <Button size="sm" onClick={() => onAct({ kind: 'swap', service })}>
            <ArrowUpDown aria-hidden />
            {t('act.swap')}
          </Button>
        ) : null}
      </div>
      {state === 'ready' ? null : <Status status="progressing">{t(`state.${state}`)}</Status>}
      <p className="flex items-start gap-2">
        <Layers aria-hidden className="mt-1 size-3.5 shrink-0 text-ink-3" />
        <span translate="no" className="mono min-w-0 wrap-anywhere">
          <TextLink href={placeHref({ cloudService: name })} prefetch={false} className="text-ink decoration-line">
            {name}
          </TextLink>
          {domain === null ? null : <span className="block text-ink-3">{domain}</span>}
        </span>
        {dnsName === null ? null : <CopyButton text={dnsName} label={t('service.copyName')} className="-my-0.5" />}
      </p>
      {publicAddress === null ? null : (
        <p className="flex items-center gap-2">
          <Globe aria-hidden className="size-3.5 shrink-0 text-ink-3" />
          <span className="sr-only">{t('service.publicAddress')} </span>
          <span translate="no" className="mono">
            {publicAddress}
          </span>
        </p>
      )}
    </div>
  );
}

interface SlotProps extends Pick<CloudServiceCardProps, 'service' | 'proxy' | 'onAct'> {
  deployment: ShownDeployment;
  /** Whether the other slot is empty. */
  isOnly: boolean;
  lines: ReturnType<typeof linesOf>;
}

function Slot({ service, deployment, proxy, isOnly, lines, onAct }: SlotProps) {
  const { t } = useTranslation('models');
  const { slot } = deployment;
  const other = slot === 'production' ? 'staging' : 'production';
  return (
    <section aria-label={t(`slot.${slot}`)} className="not-first:border-t not-first:border-line">
      <div className="flex min-h-10 flex-wrap items-center gap-x-2.5 gap-y-0.5 px-4 py-2">
        <h4 className="font-medium">{t(`slot.${slot}`)}</h4>
        {isOnly ? <span className="text-12 text-ink-3">{t(`slot.empty.${other}`)}</span> : null}
        <Coverage service={service} deployment={deployment} />
      </div>
      <RoleTable label={`${t(`slot.${slot}`)}, ${service.name}`} lines={lines} onAct={onAct} />
      <SetsLine service={service} deployment={deployment} proxy={proxy} />
    </section>
  );
}

/** Whether the 99.95% agreement covers a deployment; if not, why. */
function Coverage({ service, deployment }: Pick<SlotProps, 'service' | 'deployment'>) {
  const { t } = useTranslation('models');
  const { covered, roles } = deployment;
  const members = rolesInSet(roles);
  const set = members[0]?.availabilitySet ?? null;
  const Icon = covered ? ShieldCheck : Shield;
  return (
    <span className="ms-auto inline-flex min-w-0 items-start gap-1.5 text-12 text-ink-2 max-sm:ms-0 max-sm:w-full">
      <Icon
        aria-hidden
        className={covered ? 'mt-px size-3.5 shrink-0 text-healthy-text' : 'mt-px size-3.5 shrink-0 text-ink-3'}
      />
      {set === null ? (
        t('coverage.none')
      ) : (
        <span>
          <TextLink
            href={placeHref({ availabilitySet: `${service.name}/${set}` })}
            prefetch={false}
            data-count={members.length}
            className="text-ink-2 decoration-line"
          >
            {t('coverage.set', { set, count: members.length })}
          </TextLink>
          {', '}
          {t(covered ? 'coverage.yes' : 'coverage.no')}
        </span>
      )}
    </span>
  );
}
