import { headers } from 'next/headers';
import { redirect } from 'next/navigation';
import type { ReactNode } from 'react';
import { availableLanguages } from '../_lib/i18n/catalog.ts';
import { Words } from '../_lib/i18n/words.tsx';
import { reader, signInAddress } from '../_lib/portal.ts';
import { Shell } from '../_shell/shell.tsx';
import { currentTheme } from '../_shell/theme.ts';

/** The layout of pages that require a session. */
export default async function PortalLayout({ children }: { children: ReactNode }) {
  const [actor, theme] = await Promise.all([reader(), currentTheme()]);
  if (actor === null || actor.role === null) redirect(await signInAddress());
  return (
    <Words namespaces={['palette']}>
      <Shell
        reader={{
          ...{ id: actor.id, name: actor.name, role: actor.role },
          ...{ namespaces: actor.namespaces, scripts: actor.scripts },
        }}
        languages={availableLanguages()}
        theme={theme}
        livePosition={(await headers()).get('x-annex-live') ?? undefined}
      >
        {children}
      </Shell>
    </Words>
  );
}
