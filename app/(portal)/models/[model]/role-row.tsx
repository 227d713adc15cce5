'use client';

import Link from 'next/link';
import { memo } from 'react';
import { statusOfHealth } from '#app/_lib/health.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { cn } from '#app/_ui/cn.ts';
import { Num } from '#app/_ui/num.tsx';
import { Status } from '#app/_ui/status.tsx';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { Td, Tr } from '#app/_ui/table.tsx';
import { Chip } from '#app/_ui/tag.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import { RelativeTime } from '#app/_ui/time.tsx';
import { useCause } from '#app/(portal)/(overview)/use-cause.ts';
import { isolateText } from '#protocol/direction.ts';
import { canonicalLanguage } from '#protocol/language.ts';
import type { VmHealth } from '#server/domain/verdicts/words.ts';
import { placeHref, type ShownEndpoint, type ShownMachine } from '../model-data.ts';
import type { ModelAct } from './model-acts.ts';
import { addressOf, connectionsOf, type RoleLine } from './role-lines.ts';
import { RoleMenu } from './role-menu.tsx';

export interface RoleRowProps {
  line: RoleLine;
  hasServices: boolean;
  /** Whether the proxy counts connections. */
  hasTraffic: boolean;
  /** Undefined for readers who may not act. */
  onAct: ((act: ModelAct) => void) | undefined;
}

/** A role: its machine with its health, where it is, and its agent. */
export const RoleRow = memo(function RoleRow({ line, hasServices, hasTraffic, onAct }: RoleRowProps) {
  const { role, ports, machine, deployment } = line;
  const address = addressOf(role);
  const cut = role.id.length - role.role.length;
  return (
    <Tr leaving={role.state === 'deleting'}>
      <Td className="max-w-112 py-1.5">
        <Machine line={line} />
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1 ps-[22px] text-12 sm:hidden">
          <span translate="no" className="mono-11 text-ink-3">
            {address}
          </span>
          <Agent line={line} machine={machine} onAct={onAct} />
        </span>
      </Td>
      {hasServices ? <ServiceCell line={line} /> : null}
      <Td
        translate="no"
        title={role.id}
        className={cn('mono max-w-80 truncate text-ink-3', hasServices ? 'max-xl:hidden' : 'max-md:hidden')}
      >
        {/* The card already names the cloud service, with which the ID begins. */}
        {hasServices ? null : <span className="max-xl:hidden">{role.id.slice(0, cut)}</span>}
        <span className="text-ink">{role.role}</span>
      </Td>
      <Td translate="no" className={cn('mono max-sm:hidden', role.internalAddress === null && 'text-ink-3')}>
        {address}
      </Td>
      <Td className="text-ink-2 tabular-nums max-lg:hidden">
        <Ports ports={ports} isStaging={hasServices && deployment.slot === 'staging'} />
      </Td>
      {hasTraffic ? (
        <Td end className={cn('text-ink-2', hasServices ? 'max-lg:hidden' : 'max-xl:hidden')}>
          <Num value={connectionsOf(ports)} />
        </Td>
      ) : null}
      <Td className="max-sm:hidden">
        <Agent line={line} machine={machine} onAct={onAct} />
      </Td>
      {onAct === undefined ? null : (
        <Td end className="ps-0">
          <RoleMenu line={line} hasServices={hasServices} onAct={onAct} />
        </Td>
      )}
    </Tr>
  );
});

/** Health values that the icon alone shows. */
const quiet: readonly VmHealth[] = ['healthy', 'unknown'];

function Machine({ line: { role, machine } }: Pick<RoleRowProps, 'line'>) {
  const { t } = useTranslation(['models', 'reports']);
  const cause = useCause();
  const health = machine?.health;
  const reason = machine?.reason ?? null;
  return (
    <>
      <span className="flex min-w-0 items-center gap-2">
        {health === undefined ? (
          // Until the health of a machine is loaded, any icon would be a claim about it.
          <span className="size-3.5 shrink-0" />
        ) : (
          <span data-st={statusOfHealth[health]} className="contents">
            <StatusIcon status={statusOfHealth[health]} />
          </span>
        )}
        <Link
          href={`/vms/${role.vmId}`}
          prefetch={false}
          translate="no"
          className="truncate rounded-xs font-medium hover:underline"
        >
          {role.vm}
        </Link>
        {health === undefined ? null : (
          <span
            data-st={statusOfHealth[health]}
            className={quiet.includes(health) ? 'sr-only' : 'text-12 font-medium text-st-text'}
          >
            {t(`reports:health.${health}`)}
          </span>
        )}
        {role.controller ? <Chip>{t('models:role.controller')}</Chip> : null}
      </span>
      {reason === null ? null : (
        <span
          title={reason.text ?? undefined}
          className="line-clamp-4 ps-[22px] text-12 wrap-anywhere whitespace-normal text-ink-2"
        >
          {reason.extension === null ? null : (
            <>
              <span translate="no" className="text-ink-3">
                {reason.extension}
              </span>{' '}
            </>
          )}
          <bdi lang={reason.lang === null ? undefined : (canonicalLanguage(reason.lang) ?? '')}>
            {isolateText(reason.text ?? cause(reason))}
          </bdi>
        </span>
      )}
    </>
  );
}

function ServiceCell({ line: { service, deployment } }: Pick<RoleRowProps, 'line'>) {
  const { t } = useTranslation('models');
  return (
    <Td className="py-1.5 max-md:hidden">
      <TextLink
        href={placeHref({ cloudService: service.name })}
        prefetch={false}
        translate="no"
        className="mono text-ink decoration-line"
      >
        {service.name}
      </TextLink>
      <span translate="no" className="mono-11 block text-ink-3">
        {service.publicAddress}
      </span>
      {deployment.slot === 'staging' ? <Chip>{t('slot.staging')}</Chip> : null}
    </Td>
  );
}

/** The open ports of a role. The provider's own have a name. */
function Ports({ ports, isStaging }: { ports: readonly ShownEndpoint[]; isStaging: boolean }) {
  const { t } = useTranslation('models');
  if (ports.length === 0) return <span className="text-ink-3">{t('role.noPorts')}</span>;
  return (
    <>
      {ports.map(({ protocol, publicPort, name }, index) => (
        <span key={`${protocol}${publicPort}`}>
          {index === 0 ? null : ', '}
          {publicPort}
          {protocol === 'udp' ? '/udp' : ''}
          {name === 'ssh' || name === 'api' ? (
            <span translate="no" className="text-ink-3">
              {' '}
              {name}
            </span>
          ) : null}
        </span>
      ))}
      {isStaging ? <span className="block text-12 text-ink-3">{t('sets.staging')}</span> : null}
    </>
  );
}

interface AgentProps {
  line: RoleLine;
  machine: ShownMachine | undefined;
  onAct: RoleRowProps['onAct'];
}

/** The last call of a role's agent, or what has to happen before it calls. */
function Agent({ line: { role }, machine, onAct }: AgentProps) {
  const { t } = useTranslation('models');
  if (role.state !== 'ready') return <Status status="progressing">{t(`state.${role.state}`)}</Status>;
  if (machine === undefined) return null;
  const { status, lastSeenAt } = machine.agent;
  if (lastSeenAt !== null) {
    const isLate = status === 'unresponsive';
    return (
      <span data-st={isLate ? 'unresponsive' : undefined} className={isLate ? 'text-st-text' : 'text-ink-2'}>
        <RelativeTime value={new Date(lastSeenAt)} />
      </span>
    );
  }
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2">
      <Status status="unknown">{t(machine.isEnrolled ? 'role.notSeen' : 'role.notEnrolled')}</Status>
      {onAct !== undefined && !machine.isEnrolled ? (
        <Button size="sm" onClick={() => onAct({ kind: 'renew', what: 'token', role })}>
          {t('role.enroll')}
        </Button>
      ) : null}
    </span>
  );
}
