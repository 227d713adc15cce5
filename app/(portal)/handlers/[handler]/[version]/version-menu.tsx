'use client';

import { Ellipsis } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { IconButton } from '#app/_ui/button.tsx';
import { LazyMenu } from '#app/_ui/lazy-menu.tsx';
import type { PackageKind } from '#protocol/formula-words.ts';

const VersionDialog = dynamic(() => import('../version-dialogs.tsx').then((module) => module.VersionDialog), {
  ssr: false,
});

export interface VersionMenuProps {
  handler: string;
  version: string;
  state: 'draft' | 'published';
  vms: number;
  kind: PackageKind;
}

/** A menu that withdraws a version or deletes a draft. */
export function VersionMenu({ handler, version, state, vms, kind }: VersionMenuProps) {
  const { t } = useTranslation('packages');
  const [asked, setAsked] = useState(false);
  const act = state === 'draft' ? 'delete' : 'withdraw';
  return (
    <>
      <LazyMenu
        trigger={
          <IconButton label={t('versions.acts', { version })} variant="default">
            <Ellipsis aria-hidden />
          </IconButton>
        }
      >
        {({ MenuItem }) => (
          <MenuItem danger onSelect={() => setAsked(true)}>
            {t(`act.${act}`)}
          </MenuItem>
        )}
      </LazyMenu>
      {asked ? (
        <VersionDialog
          act={act}
          handler={handler}
          version={version}
          vms={vms}
          kind={kind}
          onClose={() => setAsked(false)}
          leaveTo="/handlers"
        />
      ) : null}
    </>
  );
}
