import { expect, type Page } from '@playwright/test';

/**
 * Makes every navigation of a page wait until the page is complete, as people see it. React streams content into a
 * hidden element and moves it shortly after the document has loaded; until then, the content exists twice or is in the
 * wrong place. Keys and clicks work after hydration, when Next.js adds its route announcer.
 */
export function openedWhole(page: Page): Page {
  const { goto, reload, goBack, goForward } = page;
  const whole = async <Answer>(opening: Promise<Answer>): Promise<Answer> => {
    const answer = await opening;
    await untilWhole(page);
    return answer;
  };
  return Object.assign(page, {
    goto: (...of: Parameters<Page['goto']>) => whole(goto.apply(page, of)),
    reload: (...of: Parameters<Page['reload']>) => whole(reload.apply(page, of)),
    goBack: (...of: Parameters<Page['goBack']>) => whole(goBack.apply(page, of)),
    goForward: (...of: Parameters<Page['goForward']>) => whole(goForward.apply(page, of)),
  });
}

/** Waits until a page is complete, even after a link, a form or another website opened it. */
export async function untilWhole(page: Page): Promise<void> {
  await expect(page.locator('div[hidden][id^="S:"]')).toHaveCount(0);
  const isOurs = (await page.locator('script[src^="/_next/"]').count()) > 0;
  if (isOurs) await expect(page.locator('next-route-announcer')).toBeAttached();
}
