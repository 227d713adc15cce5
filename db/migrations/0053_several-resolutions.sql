ALTER TABLE "units" ADD COLUMN "resolutions" jsonb DEFAULT '[]'::jsonb NOT NULL;--> statement-breakpoint
UPDATE "units" SET "resolutions" = jsonb_build_array("resolution") WHERE "resolution" IS NOT NULL;--> statement-breakpoint
ALTER TABLE "units" DROP COLUMN "resolution";
