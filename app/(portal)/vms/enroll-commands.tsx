'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Banner } from '#app/_ui/banner.tsx';
import { CopyCommand } from '#app/_ui/copy.tsx';
import { DateTime } from '#app/_ui/time.tsx';
import { EnrollmentProgress, useEnrollment } from './enrollment-progress.tsx';

export interface EnrollCommandsProps {
  vm: { id: string; name: string };
  gatewayUrl: string;
  /** The token, which the portal returns only once. */
  token: {
    enrollmentToken: string;
    enrollmentExpiresAt: string;
    /** What the agent states if the VM is a machine of a model. */
    instance?: { id: string; internalAddress: string | null } | null;
  };
  /** When the VM's previous machine enrolled; null if there was none. */
  before: string | null;
}

/**
 * The command that installs the agent and enrolls the machine, other ways to enroll it, and the progress of the
 * enrollment.
 */
export function EnrollCommands({ vm, gatewayUrl, token, before }: EnrollCommandsProps) {
  const { t } = useTranslation('vms');
  const enrollment = useEnrollment(vm.id, before);
  const { instance } = token;
  const variable = [
    `ANNEX_ENROLLMENT_TOKEN=${token.enrollmentToken}`,
    ...(instance ? [`ANNEX_AGENT_INSTANCE_ID=${instance.id}`] : []),
    ...(instance?.internalAddress ? [`ANNEX_AGENT_INTERNAL_ADDRESS=${instance.internalAddress}`] : []),
  ].join(' ');
  const installer = `curl -fsS ${gatewayUrl}/install`;
  const others = [
    // Without `--again`, the installer keeps the identity of an enrolled machine.
    ...(before === null ? [] : [{ says: t('install.again'), command: `${installer} | ${variable} sh -s -- --again` }]),
    { says: t('install.sudo'), command: `${installer} | ${variable} sudo -E sh` },
    { says: t('install.wget'), command: `wget -qO- ${gatewayUrl}/install | ${variable} sh` },
    {
      says: t('install.container'),
      command: `${installer} | ${variable} sh -s -- --foreground --dir /var/lib/annex-agent`,
    },
    {
      says: t('install.present'),
      command: `${variable} annex-agent enroll --portal ${gatewayUrl} --dir /var/lib/annex-agent`,
    },
  ];
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
      <LoopbackWarning gatewayUrl={gatewayUrl} />
      <p className="text-13 text-ink-2">{t('install.root')}</p>
      <CopyCommand whole command={`${installer} | ${variable} sh`} />
      <details>
        <summary className="cursor-pointer text-12 text-ink-2">{t('install.others')}</summary>
        <div className="mt-2 grid grid-cols-[minmax(0,1fr)] gap-2">
          {others.map(({ says, command }) => (
            <section key={says} className="grid grid-cols-[minmax(0,1fr)] gap-1">
              <p className="text-12 text-ink-2">{says}</p>
              <CopyCommand command={command} />
            </section>
          ))}
        </div>
      </details>
      {/* On a phone, the longer of the two sentences needs two lines. */}
      <p className="text-12 text-ink-3 max-sm:min-h-[2lh]">
        {enrollment.reached > 0 ? (
          t('token.used')
        ) : (
          <>
            {t('token.until')} <DateTime value={new Date(token.enrollmentExpiresAt)} />
          </>
        )}
      </p>
      <EnrollmentProgress vm={vm} enrollment={enrollment} />
    </div>
  );
}

/** A warning if only the machine on which Annex runs can reach the gateway's address. */
export function LoopbackWarning({ gatewayUrl }: { gatewayUrl: string }) {
  const { t } = useTranslation('vms');
  const { hostname } = new URL(gatewayUrl);
  if (hostname !== 'localhost' && hostname !== '[::1]' && !hostname.startsWith('127.')) return null;
  return (
    <Banner boxed status="warning">
      {t('install.loopback', { url: gatewayUrl })}
    </Banner>
  );
}
