'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { CopyCommand } from '#app/_ui/copy.tsx';
import { DateTime } from '#app/_ui/time.tsx';

export interface EnrollCommandsProps {
  gatewayUrl: string;
  /** As the portal gave it, once. */
  token: { enrollmentToken: string; enrollmentExpiresAt: string };
}

/** What to run on the machine, to copy. */
export function EnrollCommands({ gatewayUrl, token }: EnrollCommandsProps) {
  const { t } = useTranslation('vms');
  const dir = '/var/lib/annex-agent';
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-2">
      <CopyCommand
        command={`npm run -s agent -- enroll --portal ${gatewayUrl} --token ${token.enrollmentToken} --dir ${dir}`}
      />
      <CopyCommand command={`npm run -s agent -- run --dir ${dir}`} />
      <p className="text-12 text-ink-3">
        {t('token.until')} <DateTime value={new Date(token.enrollmentExpiresAt)} />
      </p>
    </div>
  );
}
