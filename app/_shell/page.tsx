import type { ReactNode } from 'react';
import { words } from '../_lib/i18n/server.ts';
import { Breadcrumbs, type Crumb } from '../_ui/breadcrumbs.tsx';
import { cn } from '../_ui/cn.ts';
import { TopBar } from './top-bar.tsx';

export interface PageProps {
  /** Breadcrumbs; the last breadcrumb has no link. */
  crumbs: readonly Crumb[];
  children: ReactNode;
  /**
   * A bar of buttons that stays at the bottom while the page scrolls, such as the extension editor's "Apply to 1 VM".
   */
  footer?: ReactNode;
}

/** The frame of every page in the shell: a top bar with breadcrumbs, the connection's banner, and the content. */
export async function Page({ crumbs, children, footer }: PageProps) {
  const { t } = await words('navigation');
  return (
    <div className="flex min-h-dvh min-w-0 flex-col max-sm:pb-(--tabbar)">
      <TopBar>
        <Breadcrumbs label={t('crumbs')} crumbs={crumbs} />
      </TopBar>
      <main
        id="main"
        tabIndex={-1}
        className={cn(
          'w-full max-w-[2240px] flex-1 px-(--gutter) pt-5 pb-6 outline-none focus-visible:shadow-none max-sm:pt-4',
          // Keeps what has the focus above the footer.
          footer !== undefined && '**:scroll-mb-16',
        )}
      >
        {children}
      </main>
      {footer}
    </div>
  );
}

/**
 * A bar of buttons at the bottom of a page. If they are blocked, the reason comes first; the primary button comes last.
 */
export function FootBar({ children }: { children: ReactNode }) {
  return (
    <div className="sticky bottom-0 z-10 flex flex-wrap items-center gap-3 border-t border-line bg-surface px-(--gutter) py-3 max-sm:bottom-(--tabbar)">
      {children}
    </div>
  );
}
