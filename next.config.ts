import type { NextConfig } from 'next';

const config: NextConfig = {
  poweredByHeader: false,
  reactStrictMode: true,
  compress: true,
  // Types are checked by `npm run verify`, for the whole house at once.
  typescript: { ignoreBuildErrors: true },
  images: { unoptimized: true },
  instrumentationClientInject: ['./app/_lib/navigation.ts'],
};

export default config;
