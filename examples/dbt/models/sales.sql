-- each run appends new rows, and the hook takes the new files into the layout
{{ config(
    materialized='incremental',
    incremental_strategy='append',
    file_format='parquet',
    post_hook="ZORDER TABLE {{ this }} BY (customer, product) WITH (fileCount = 8)"
) }}

SELECT
    id AS sale,
    cast(pmod(hash(id, 1), 5000) AS int) AS customer,
    cast(pmod(hash(id, 2), 3000) AS int) AS product
FROM range(0, 200000, 1, 8)
{% if is_incremental() %}
WHERE id % 10 = 0
{% endif %}
