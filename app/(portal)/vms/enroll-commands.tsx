'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { CopyCommand } from '#app/_ui/copy.tsx';
import { DateTime } from '#app/_ui/time.tsx';

export interface EnrollCommandsProps {
  gatewayUrl: string;
  /** The token, which the portal returns only once. */
  token: { enrollmentToken: string; enrollmentExpiresAt: string };
}

/** Commands to run on the machine, for the agent as a single file and for a clone of the repository. */
export function EnrollCommands({ gatewayUrl, token }: EnrollCommandsProps) {
  const { t } = useTranslation('vms');
  const dir = '/var/lib/annex-agent';
  const ways = [
    { says: t('enroll.file'), agent: 'annex-agent' },
    { says: t('enroll.clone'), agent: 'npm run -s agent --' },
  ];
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-2">
      {ways.map(({ says, agent }) => (
        <section key={agent} className="grid grid-cols-[minmax(0,1fr)] gap-2">
          <p className="text-12 text-ink-2">{says}</p>
          <CopyCommand
            command={`${agent} enroll --portal ${gatewayUrl} --token ${token.enrollmentToken} --dir ${dir}`}
          />
          <CopyCommand command={`${agent} run --dir ${dir}`} />
        </section>
      ))}
      <p className="text-12 text-ink-3">
        {t('token.until')} <DateTime value={new Date(token.enrollmentExpiresAt)} />
      </p>
    </div>
  );
}
